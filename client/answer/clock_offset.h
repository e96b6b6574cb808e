/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a target's clock is from ours: from a few short calls (proftap.v1 Status), or, where the server does not know them, from
 * its process on this machine or from the times in its answer.
 */
#ifndef CLIENT_CLOCK_OFFSET_H
#define CLIENT_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address;
struct rpc_channel;

#define CLOCK_OFFSET_TARGET_BYTES 256
#define CLOCK_OFFSET_NAME_BYTES 64

struct clock_offset {
	bool is_known;
	char target
		[CLOCK_OFFSET_TARGET_BYTES]; /* who answered: different for different programs; "": it did not say */
	char name
		[CLOCK_OFFSET_NAME_BYTES]; /* the same one's name and pid; "" and 0: it did not say */
	int pid;
	int64_t offset_ns; /* the target's Unix time minus ours */
	int64_t uncertainty_ns; /* half of the shortest round trip or of the bracket; 0: it is the same clock */
	bool is_bracket; /* found after the recording: its start was told by our clock */
};

/*
 * Asks over |channel|. A server of another make does not know the question, and one that does not answer within a
 * second is not asked again: then it stays unknown. An interrupt ends it early. A target on the same kernel has the same
 * clock, which its CLOCK_MONOTONIC tells.
 */
void clock_offset_measure(struct rpc_channel *channel, struct clock_offset *out);

/* Asks once who is there: true, and |out| has a name and a pid, but nothing else that counts. */
bool clock_offset_find_name(struct rpc_channel *channel, struct clock_offset *out);

/* Whether one of JAX's or TensorFlow's servers listens on |address| on this machine: then |out| has its name and pid, and the same clock. */
bool clock_offset_find_stock_here(const struct address *address, struct clock_offset *out);

/* A Profile of a server that tells nothing but when it recorded. */
struct clock_bracket {
	int64_t sent_unix_ns; /* ours, when the request was sent */
	int64_t answered_unix_ns; /* ours, when the answer was there */
	int64_t start_ns; /* the target's, first and last of the recording */
	int64_t stop_ns;
};
/* The middle of what is possible. False: the times are nonsense, as those of a clock that was set meanwhile. */
bool clock_offset_bracket(const struct clock_bracket *bracket, struct clock_offset *out);

/* One answer: ours before and after, and what the target said. False: it is nonsense. */
struct clock_round {
	char target[CLOCK_OFFSET_TARGET_BYTES];
	char name[CLOCK_OFFSET_NAME_BYTES];
	int pid;
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
