/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures nanoseconds of a span while the flight recorder runs, and makes a ring that is full of
 * spans. The program is like a user's: the installed header, the shared library, nothing internal.
 *
 * usage: bench_recorder RING_MIB
 *
 * Emits until each slot of its ring was overwritten twice; after each batch of spans comes a batch
 * of as many clock reads, as in bench_cost.c. Then it prints "cost EMIT READ NONE" and "filled PORT
 * SPANS", and waits for the end of its standard input.
 */
#include <proftap/proftap.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/loops.h"
#include "tests/bench/samples.h"

#define SPAN_BYTES 16
#define LAPS 3
#define BATCH 2000
#define MAX_ROUNDS 4096

static double emitted[MAX_ROUNDS];
static double reads[MAX_ROUNDS];
static double nothing[MAX_ROUNDS];

static void emit_span(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("span");
		barrier();
	}
}

static int start_server(uint32_t ring_bytes)
{
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;

	options.ring_bytes = ring_bytes;
	options.recorder = 1;
	if (ptap_server_start_with(&options) == 0 && ptap_enabled(1))
		return 0;
	fprintf(stderr, "bench_recorder: %s\n", ptap_last_error());
	return -1;
}

/* The first lap, which writes to fresh memory, does not count. */
static int measure_laps(size_t n_spans)
{
	int n = 0;

	emit_span((int)(n_spans / LAPS));
	for (size_t done = n_spans / LAPS; done < n_spans && n < MAX_ROUNDS; done += BATCH, n++) {
		emitted[n] = measure(emit_span, BATCH);
		reads[n] = measure(read_two, BATCH);
		nothing[n] = measure(read_none, BATCH);
	}
	return n;
}

int main(int argc, char **argv)
{
	uint32_t ring_bytes = argc == 2 ? (uint32_t)atoi(argv[1]) << 20 : 0;
	size_t n_spans = (size_t)LAPS * ring_bytes / SPAN_BYTES;
	size_t n;

	if (!ring_bytes || start_server(ring_bytes))
		return 1;
	n = (size_t)measure_laps(n_spans);
	printf("cost %.3f %.3f %.3f\n", median(emitted, n), median(reads, n), median(nothing, n));
	printf("filled %d %zu\n", ptap_server_port(), n_spans);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
