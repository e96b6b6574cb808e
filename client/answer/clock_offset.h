/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference between a target's clock and ours. It is measured by a few short calls (proftap.v1
 * Status). A server without that method has the same clock if it runs on this machine; for other
 * servers without it the offset is estimated from the times in the answer to Profile. The offset is
 * written into the trace.
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
	/* Identifies the program that answered; "": not known. */
	char target[CLOCK_OFFSET_TARGET_BYTES];
	char name[CLOCK_OFFSET_NAME_BYTES]; /* the program's name; "": not known */
	int pid; /* 0: not known */
	int64_t offset_ns; /* the target's Unix time minus ours */
	/* Half of the shortest round trip, or of the range of possible offsets; 0: same clock. */
	int64_t uncertainty_ns;
	/* Estimated by clock_offset_bracket() only after the recording, whose start was therefore
	 * requested in the time of our clock. */
	bool is_bracket;
};

/*
 * Measures over |channel|. The offset stays unknown if the server does not have the method, or does
 * not answer within a second. An interrupt ends the measurement early. A target on the same kernel,
 * recognised by its CLOCK_MONOTONIC, has the same clock.
 */
void clock_offset_measure(struct rpc_channel *channel, struct clock_offset *out);

/*
 * Asks once for the program's name and pid. If it returns true, |out| has both, and the offset that
 * this one call shows.
 */
bool clock_offset_find_name(struct rpc_channel *channel, struct clock_offset *out);

/*
 * If one of JAX's or TensorFlow's servers listens on |address| on this machine, sets |out| to its
 * name and pid and to the same clock, and returns true.
 */
bool clock_offset_find_stock_here(const struct address *address, struct clock_offset *out);

/* The times of a Profile call to a server that reports only the start and end of its recording. */
struct clock_bracket {
	int64_t sent_unix_ns; /* our clock when the request was sent */
	int64_t answered_unix_ns; /* our clock when the answer was complete */
	int64_t start_ns; /* the target's clock at the recording's start and end */
	int64_t stop_ns;
};
/*
 * Sets |out| to the middle of the possible offsets. False: no offset is possible, for example
 * because a clock was set meanwhile.
 */
bool clock_offset_bracket(const struct clock_bracket *bracket, struct clock_offset *out);

/* One call: our times before and after it, and the target's answer. */
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
/* Computes the offset from one call. False: the answer is not usable. */
bool clock_offset_judge(const struct clock_round *round, struct clock_offset *out);

/*
 * Converts our |unix_ns|, above 0, to the target's time; if the offset is not known, returns it
 * unchanged. The result is at least 1, because in a request 0 means no time, and a negative number
 * is read as a time far in the future.
 */
int64_t clock_offset_convert(const struct clock_offset *offset, int64_t unix_ns);

/* Writes "clock +1.2 ms ± 0.1 ms", "same clock" or "clock unknown". */
void clock_offset_format(const struct clock_offset *offset, char *out, size_t n);

/* --- stamps of traces ------------------------------------------------------------------------- */

struct answer;
struct diag;

/*
 * Adds stats to the plane "Task Environment" of the temporary file. If the offset has a name, the
 * stats are proftap_target_name, a text, and proftap_target_pid. If the offset is known, they are
 * also proftap_clock_offset_ns, the target's Unix time minus ours, and
 * proftap_clock_uncertainty_ns, both int64. A trace without that plane is not changed.
 * *file_bytes becomes the size of the file; the answer's mapping must not be read afterwards. 0,
 * or a negative errno with |d|.
 */
int clock_stamp_write(struct answer *answer, const struct clock_offset *offset,
	uint64_t *file_bytes, struct diag *d);

#endif
