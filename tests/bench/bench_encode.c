/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures nanoseconds and bytes per event of the XSpace encoder: plain,
 * and with two integer stats.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/bench/sample_space.h"
#include "tests/bench/samples.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

#define N_EVENTS 1000000
#define N_RUNS 5

static int measure(const char *what, bool with_stats)
{
	_cleanup_(space_freep) struct space *space = NULL;
	double ns[N_RUNS];
	uint64_t n_bytes = 0;

	if (sample_space_new(N_EVENTS, with_stats, &space))
		return 1;
	for (int i = 0; i < N_RUNS; i++) {
		_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
		double start = thread_cpu_ns();

		if (xspace_encode(space, &out))
			return 1;
		ns[i] = (thread_cpu_ns() - start) / N_EVENTS;
		n_bytes = out.total_bytes;
	}
	printf("encode %s %.1f ns/event %.1f bytes/event\n", what, median(ns, N_RUNS),
		(double)n_bytes / N_EVENTS);
	return 0;
}

int main(void)
{
	return measure("plain", false) | measure("with 2 stats", true);
}
