/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the three parsers of addresses: the client's (a target), the library's (where to
 * listen) and the server's (a host of NewSession). An address that the client accepts is formatted,
 * accepted again, and means the same. One that the server accepts is a host and a port, and gRPC
 * would take no part of it for a path or a scheme.
 */
#define PTAP_IMPL_BUILDING
#include <netinet/in.h>
#include <proftap/proftap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/target/address.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/fan_out.h"
#include "daemon/serve/session/session.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "lib/spawn/address.h"
#include "lib/spawn/spawn.h"
#include "tests/fuzz/fuzz.h"

static void check_target(const char *text)
{
	struct address a;
	struct address again;
	struct diag d = DIAG_INIT;

	if (address_parse(text, NULL, &a, &d)) {
		if (!d.text[0])
			abort();
		return;
	}
	/* Host and port, a path, or a lookup. */
	if ((a.port && a.host[0]) + (a.path[0] != '\0') + (a.lookup[0] != '\0') != 1)
		abort();
	if (address_parse(a.text, NULL, &again, &d))
		abort();
	if (a.port != again.port || strcmp(a.host, again.host) || strcmp(a.path, again.path) ||
		strcmp(a.lookup, again.lookup) || strcmp(a.text, again.text))
		abort();
}

static void check_path(const struct sockaddr_un *a)
{
	if (a->sun_path[0] != '/' || strnlen(a->sun_path, sizeof a->sun_path) == sizeof a->sun_path)
		abort();
}

static void check_listen(const char *text)
{
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;
	struct spawn s = {0};
	struct diag d = DIAG_INIT;

	options.address = text;
	if (listen_address_parse(&options, &s, &d)) {
		if (!d.text[0])
			abort();
		return;
	}
	if (s.address.ss_family == AF_UNIX)
		check_path((struct sockaddr_un *)&s.address);
	else if (s.address_bytes != sizeof(struct sockaddr_in) &&
		 s.address_bytes != sizeof(struct sockaddr_in6))
		abort();
}

static void check_accepted_host(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n_digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!n_digits || colon[1 + n_digits] || strchr(text, '/') || strchr(text, '%'))
		abort();
	/* Further colons belong to an IPv6 address. */
	if (strchr(text, ':') != colon && (text[0] != '[' || colon[-1] != ']'))
		abort();
}

static void check_host(const char *text)
{
	static struct arena arena = {.port = 9999, .address = "127.0.0.1"};
	static struct target target = {.arena = &arena};
	static struct family family = {.main = &target};
	static struct session session = {.family = &family};
	static struct fan_out all;
	struct diag d = DIAG_INIT;
	int r;

	all.session = &session;
	all.own = NULL;
	all.group.n = 0;
	r = fan_out_add(&all, text, &d);
	if (!r)
		check_accepted_host(text);
	else if (!d.text[0] || all.group.n)
		abort();
	/* A host is added only once. */
	if (!r && (fan_out_add(&all, text, &d) || all.group.n != 1))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);

	check_target(text);
	check_listen(text);
	check_host(text);
	return 0;
}
