/* SPDX-License-Identifier: Apache-2.0 */
/* Spans and instants of proftap: the installed header, the shared library. */
#include <proftap/proftap.h>
#include <stdio.h>

#include "tests/bench/loops.h"
#include "tests/bench/peers/peer.h"

static void emit_span(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("span");
		barrier();
	}
}

static void emit_instant(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_INSTANT("instant");
		barrier();
	}
}

static bool is_recording(void)
{
	return ptap_enabled(1);
}

int main(int argc, char **argv)
{
	struct peer peer = {
		.span = emit_span, .instant = emit_instant, .is_recording = is_recording};

	if (ptap_server_start(0)) {
		fprintf(stderr, "peer_proftap: %s\n", ptap_last_error());
		return 1;
	}
	peer.port = ptap_server_port();
	return peer_run(&peer, argc, argv);
}
