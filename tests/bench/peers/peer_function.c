/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tracers of functions: a call is a span, measured against the call of a function that nothing
 * traces.
 */
#include "tests/bench/peers/peer.h"
#include "tests/bench/peers/traced.h"

#include "tests/bench/loops.h"

/* A twin of peer_traced(), in this file, which is compiled for no tracer. */
static __attribute__((noinline)) void call_nothing(void)
{
	barrier();
}

static void emit_span(int n)
{
	for (int i = 0; i < n; i++) {
		peer_traced();
		barrier();
	}
}

static void call_without(int n)
{
	for (int i = 0; i < n; i++) {
		call_nothing();
		barrier();
	}
}

int main(int argc, char **argv)
{
	/* If the tracer can trace the entry alone, that is an instant. */
	const struct peer peer = {.span = emit_span, .instant = emit_span, .without = call_without};

	return peer_run(&peer, argc, argv);
}
