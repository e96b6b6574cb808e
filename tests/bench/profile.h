/* SPDX-License-Identifier: Apache-2.0 */
/* A timed Profile call, as a client makes it. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include <stdint.h>

struct rpc_channel;

struct profile_result {
	double took_ns; /* from the encoded request to the whole answer */
	uint64_t n_bytes; /* of the XSpace */
	uint64_t n_spans; /* in the XSpace, counted by decoding it; 0 when it is empty */
	uint64_t n_dropped;
};

/*
 * A connected socket and a channel to 127.0.0.1:|port|. A failure is printed, and gives -1 or NULL.
 */
int profile_connect(int port);
struct rpc_channel *profile_open(int port);

/* 0, or -1 with the reason printed. */
int profile_call(struct rpc_channel *channel, uint64_t duration_ms, struct profile_result *out);

#endif
