/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This file has every C++ object once, as a user writes it. tests/compile/headers compiles it as
 * C++11, 17 and 20, with and without PTAP_DISABLE.
 */
#include <proftap/proftap.hpp>

int use_objects(int n, const char *text);
ptap::async_span hand_over(ptap::async_span request);

static ptap::counter queue("queue");

/* PTAP_DISABLE keeps the server, but tests/compile/headers must not find its symbols then. */
#ifndef PTAP_DISABLE
int use_server(const ptap_server_options &options);
int use_server(const ptap_server_options &options)
{
	ptap::server first(0);
	ptap::server second(options);

	ptap::thread_name("main");
	if (!first)
		return first.error();
	return second.port() + second.stop();
}
#endif

ptap::async_span hand_over(ptap::async_span request)
{
	return request;
}

int use_objects(int n, const char *text)
{
	ptap::span span(text);
	ptap::span verbose(text, 3);
	ptap::async_span none;
	ptap::async_span request("request", static_cast<uint64_t>(n));

	queue = n;
	queue = 0.5 * n;
	none = hand_over(static_cast<ptap::async_span &&>(request));
	none.end();
	PTAP_FLOW_OUT("flow", n);
	PTAP_SPAN("literal");
	return ptap_enabled(1);
}
