/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This file has every annotation once, as a user writes it. tests/compile/headers compiles it as
 * C99 and C++11, with and without PTAP_DISABLE.
 */
#include <proftap/proftap.h>

int use(int n, const char *text);

static void use_spans(int n, const char *text)
{
	PTAP_SPAN("span");
	PTAP_SPAN_LEVEL(3, "verbose");
	PTAP_SPAN_DYN(text);
	PTAP_SPAN_ARGS("args", PTAP_I("i", n), PTAP_U("u", n), PTAP_F("f", n), PTAP_S("s", text),
		PTAP_P("p", text));
	PTAP_BEGIN("pair");
	PTAP_BEGIN_DYN(text);
	PTAP_END();
	PTAP_END();
}

static void use_links(int n, const char *text)
{
	PTAP_FLOW_OUT("flow", n);
	PTAP_FLOW_IN("flow", n);
	PTAP_FLOW_OUT_DYN(text, n);
	PTAP_FLOW_IN_DYN(text, n);
	PTAP_ASYNC_BEGIN("async", text);
	PTAP_ASYNC_END("async", text);
	PTAP_ASYNC_BEGIN_DYN(text, n);
	PTAP_ASYNC_END_DYN(text, n);
}

/* Only annotations use the variables here; -DPTAP_DISABLE must not turn that into a warning. */
static void use_bit_fields(int n)
{
	struct {
		unsigned int some : 3;
	} bits = {(unsigned int)n & 7u};
	const int level = 2;

	PTAP_SPAN_LEVEL(level, "span");
	PTAP_SPAN_ARGS(
		"args", PTAP_I("i", bits.some), PTAP_U("u", bits.some), PTAP_F("f", bits.some));
	PTAP_STEP("step", bits.some);
	PTAP_COUNTER("int", bits.some);
	PTAP_FLOW_OUT("flow", bits.some);
	PTAP_ASYNC_BEGIN("async", bits.some);
}

int use(int n, const char *text)
{
	PTAP_STEP("step", n);
	PTAP_COUNTER("int", n);
	PTAP_COUNTER("double", 0.5 * n);
	PTAP_INSTANT("instant");
	PTAP_INSTANT_DYN(text);
	use_spans(n, text);
	use_bit_fields(n);
	use_links(n, text);
	return ptap_enabled(1);
}
