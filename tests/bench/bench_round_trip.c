/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures by how much Profile calls on one connection take longer than the recording.
 *
 * usage: bench_round_trip PORT DURATION_MS N
 *
 * Prints the median, minimum and maximum in ms, and the sums of the answers' bytes,
 * spans and dropped spans.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rpc/client.h"
#include "tests/bench/profile.h"
#include "tests/bench/samples.h"

#define MAX_RUNS 100

struct sums {
	uint64_t n_bytes;
	uint64_t n_spans;
	uint64_t n_dropped;
};

static int measure(struct rpc_channel *channel, int duration_ms, double *ms, struct sums *sums)
{
	struct profile_result result;

	if (profile_call(channel, (uint64_t)duration_ms, &result))
		return -1;
	*ms = result.took_ns / 1e6 - duration_ms;
	sums->n_bytes += result.n_bytes;
	sums->n_spans += result.n_spans;
	sums->n_dropped += result.n_dropped;
	return 0;
}

static int run(struct rpc_channel *channel, int duration_ms, int n)
{
	double ms[MAX_RUNS];
	struct sums sums = {0};

	for (int i = 0; i < n; i++)
		if (measure(channel, duration_ms, &ms[i], &sums))
			return 1;
	printf("%.3f", median(ms, (size_t)n));
	printf(" %.3f %.3f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ms[0], ms[n - 1], sums.n_bytes,
		sums.n_spans, sums.n_dropped);
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[3]) : 0;
	struct rpc_channel *channel = n > 0 && n <= MAX_RUNS ? profile_open(atoi(argv[1])) : NULL;
	int r = channel ? run(channel, atoi(argv[2]), n) : 1;

	rpc_channel_free(channel);
	return r;
}
