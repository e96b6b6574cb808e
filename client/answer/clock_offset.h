/* SPDX-License-Identifier: Apache-2.0 */
/* How far a target's clock is from ours, from a few short calls (proftap.v1 Status). */
#ifndef CLIENT_CLOCK_OFFSET_H
#define CLIENT_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_channel;

#define CLOCK_OFFSET_TARGET_BYTES 256

struct clock_offset {
	bool is_known;
	char target
		[CLOCK_OFFSET_TARGET_BYTES]; /* who answered: different for different programs; "": it did not say */
	int64_t offset_ns; /* the target's Unix time minus ours */
	int64_t uncertainty_ns; /* half of the shortest round trip; 0: it is the same clock */
};

/*
 * Asks over |channel|. A server of another make does not know the question, and one that does not answer within a
 * second is not asked again: then it stays unknown. An interrupt ends it early. A target on the same kernel has the same
 * clock, which its CLOCK_MONOTONIC tells.
 */
void clock_offset_measure(struct rpc_channel *channel, struct clock_offset *out);

/* One answer: ours before and after, and what the target said. False: it is nonsense. */
struct clock_round {
	char target[CLOCK_OFFSET_TARGET_BYTES];
	int64_t sent_unix_ns;
	int64_t sent_monotonic_ns;
	int64_t received_monotonic_ns;
	uint64_t unix_ns;
	uint64_t monotonic_ns;
};
bool clock_offset_judge(const struct clock_round *round, struct clock_offset *out);

/*
 * |unix_ns| of ours, above 0, in the target's time; the same when that is not known. At least 1: what was before 1970 there
 * is not far in the future, as a request would have it, nor 0, which is none.
 */
int64_t clock_offset_convert(const struct clock_offset *offset, int64_t unix_ns);

/* "clock +1.2 ms ± 0.1 ms", "same clock", "clock unknown". */
void clock_offset_format(const struct clock_offset *offset, char *out, size_t n);

#endif
