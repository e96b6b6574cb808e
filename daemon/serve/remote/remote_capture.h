/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Capture (proftap.v1) that is asked of another server of ours, and the trace that comes back:
 * into a file, as it comes. Everything that can go wrong is its |error|.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_REMOTE_CAPTURE_H
#define DAEMON_REMOTE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/remote_trace.h"

struct chunks;
struct disk_share;
struct rpc_channel;
struct rpc_pending;
struct XXH3_state_s;
struct Tensorflow__ProfileOptions;

/*
 * Which session a snapshot is of. All zero: the continuous one that runs, else the flight recorder.
 */
struct remote_snapshot {
	const char *session_id; /* NULL: see above; "recorder": the flight recorder */
	uint64_t last_ms; /* of the recorder: no more than these; 0: all */
	int ends; /* it ends with that */
};

/* The progress that the server reports while it records. */
struct remote_progress {
	int phase; /* of proftap.v1 */
	uint64_t elapsed_ns;
	uint64_t recorded_bytes;
	uint64_t xspace_bytes; /* 0: not known yet */
};

/* All zero is the state before. */
struct remote_capture {
	uint32_t progress_interval_ms; /* to be set before; 0: nobody looks at |progress| */
	char address[280]; /* "host:port", "unix:/path", or another name of it */
	struct rpc_channel *channel;
	struct rpc_pending *call; /* NULL: none is under way */
	struct rpc_pending *ending; /* the request for its end */
	/* The answer: */
	struct remote_trace trace;
	struct XXH3_state_s *sum;
	struct remote_progress progress;
	int has_begun; /* it has said something */
	int is_complete; /* the trailer has come, and what came is what it says */
	int is_empty; /* it said so */
	uint64_t n_events;
	uint64_t n_dropped;
	uint64_t start_unix_ns;
	/*
	 * The time for which a host daemon adds the machine's counters (MachineUsage); both 0:
	 * none.
	 */
	uint64_t usage_since_ns; /* CLOCK_MONOTONIC outside of all time namespaces */
	uint64_t usage_duration_ns;
	int status; /* gRPC's, of a call that has ended by itself */
	char error[512]; /* "": none; begins with the address */
};

void remote_capture_fail(struct remote_capture *r, const char *text);

/*
 * A Profile request without a version means the defaults. A Capture needs a version, so this sets
 * it and the defaults.
 */
void remote_capture_fill_options(struct Tensorflow__ProfileOptions *options);

/*
 * Asks for |options|, whose session_id is set, over |channel| (taken; NULL: memory ran out).
 * |share| may still be empty before something is read.
 */
void remote_capture_start(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, const struct Tensorflow__ProfileOptions *options,
	struct disk_share *share);

/*
 * The same for what a session that runs there has recorded since it was asked last, or its flight
 * recorder holds: a Snapshot, or a Stop.
 */
void remote_capture_start_snapshot(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, const struct remote_snapshot *what, struct disk_share *share);

/* Asks for an early end, with the data, and does not wait for the answer. */
void remote_capture_ask_to_end(struct remote_capture *r, const char *session_id);
/* 1 when that was answered, or nothing was asked; waits for it up to |wait_ms|. */
int remote_capture_is_ending(struct remote_capture *r, int64_t wait_ms);

/*
 * Takes the bytes of one message, which remote_capture_read() does with what comes. 0; -EBADMSG for
 * what is not a part of a trace, -ENOMEM, or another negative errno, which |error| says.
 */
int remote_capture_feed(struct remote_capture *r, const uint8_t *data, size_t n);
/*
 * Takes one message, if there is one within |wait_ms|: 1. 0 when none is there yet, or the call is
 * over.
 */
int remote_capture_read(struct remote_capture *r, int64_t wait_ms);
/* 1 when there is nothing more to read. */
int remote_capture_is_over(const struct remote_capture *r);

/* 1 when it was over before it began, because the server has no such call. */
int remote_capture_is_unknown(const struct remote_capture *r);

/* Writes |bytes| behind the trace. 0, or a negative errno, which |error| says. */
int remote_capture_append(
	struct remote_capture *r, const struct chunks *bytes, uint64_t *offset_out);

/*
 * Gives the call up, if it is not over yet; |error| says so. The trace stays if it is complete,
 * else its room is others'.
 */
void remote_capture_end(struct remote_capture *r);
void remote_capture_deinit(struct remote_capture *r);

#endif
