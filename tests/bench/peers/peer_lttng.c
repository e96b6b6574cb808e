/* SPDX-License-Identifier: Apache-2.0 */
/* The program for LTTng-UST: two tracepoints make a span, and one makes an instant. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/peers/lttng_provider.h"

#include "tests/bench/loops.h"
#include "tests/bench/peers/peer.h"

static void emit_span(int n)
{
	for (int i = 0; i < n; i++) {
		lttng_ust_tracepoint(proftap_bench, span_begin);
		lttng_ust_tracepoint(proftap_bench, span_end);
		barrier();
	}
}

static void emit_instant(int n)
{
	for (int i = 0; i < n; i++) {
		lttng_ust_tracepoint(proftap_bench, instant);
		barrier();
	}
}

static bool is_recording(void)
{
	return lttng_ust_tracepoint_enabled(proftap_bench, span_begin);
}

int main(int argc, char **argv)
{
	const struct peer peer = {
		.span = emit_span, .instant = emit_instant, .is_recording = is_recording};

	return peer_run(&peer, argc, argv);
}
