/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Capture (proftap.v1) by another proftap server. Its trace is written into a file as it arrives.
 * Every failure is a text in |error|.
 *
 * Threads: starts none; only one thread at a time may use an object.
 */
#ifndef DAEMON_REMOTE_CAPTURE_H
#define DAEMON_REMOTE_CAPTURE_H

#include <stdbool.h>
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
 * Selects the session of a snapshot. A struct of zeros selects the running continuous session, or
 * the flight recorder if there is none.
 */
struct remote_snapshot {
	const char *session_id; /* NULL: see above; "recorder": the flight recorder */
	uint64_t last_ms; /* limit of the recorder's data; 0: all of it */
	bool ends; /* the session ends with the snapshot */
};

/* The progress that the server reports while it records. */
struct remote_progress {
	int phase; /* of proftap.v1 */
	uint64_t elapsed_ns;
	uint64_t recorded_bytes;
	uint64_t xspace_bytes; /* 0: not known yet */
};

/* A struct of zeros is the state before the start. */
struct remote_capture {
	uint32_t progress_interval_ms; /* set before the start; 0: |progress| is not needed */
	char address[280]; /* "host:port", "unix:/path", or another name */
	struct rpc_channel *channel;
	struct rpc_pending *call; /* NULL: none is under way */
	struct rpc_pending *ending; /* the request for an early end */
	/* The answer: */
	struct remote_trace trace;
	struct XXH3_state_s *sum;
	struct remote_progress progress;
	bool has_begun; /* a message has come */
	bool is_complete; /* the trailer has come, and its size and checksum match the trace */
	bool is_empty; /* as in the trailer */
	uint64_t n_events;
	uint64_t n_dropped;
	uint64_t start_unix_ns;
	/*
	 * The time for which a host daemon adds the machine's counters (MachineUsage); both 0:
	 * none.
	 */
	uint64_t usage_since_ns; /* CLOCK_MONOTONIC outside of all time namespaces */
	uint64_t usage_duration_ns;
	int status; /* gRPC's, if the call has ended by itself */
	char error[512]; /* "": none; begins with the address */
};

/*
 * A Profile request without a version means the defaults. A Capture needs a version, so this sets
 * it and the defaults.
 */
void remote_capture_fill_options(struct Tensorflow__ProfileOptions *options);

/*
 * Requests a Capture with |options|, whose session_id is set, over |channel|, which |r| owns from
 * now on; NULL means that memory ran out, and sets |error|. The limit of |share| may be set later,
 * before the first read.
 */
void remote_capture_start(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, const struct Tensorflow__ProfileOptions *options,
	struct disk_share *share);

/*
 * Calls Snapshot or Stop to get the data that a running session has recorded since the last such
 * call, or that the flight recorder holds.
 */
void remote_capture_start_snapshot(struct remote_capture *r, const char *address,
	struct rpc_channel *channel, const struct remote_snapshot *what, struct disk_share *share);

/*
 * Requests an early end, with the data, and does not wait for the answer. It may be called again
 * after the answer came.
 */
void remote_capture_ask_to_end(struct remote_capture *r, const char *session_id);
/*
 * Returns true if the request for an early end was answered, or none was made. Waits for the answer
 * up to |wait_ms|.
 */
bool remote_capture_end_is_answered(struct remote_capture *r, int64_t wait_ms);

/*
 * Reads the bytes of one message; called by remote_capture_read(). 0; -EBADMSG if they are not a
 * part of a trace; -ENOMEM; or another negative errno, which |error| explains.
 */
int remote_capture_feed(struct remote_capture *r, const uint8_t *data, size_t n);
/*
 * Reads one message, if one comes within |wait_ms|. Returns false if none has come, or the call is
 * over.
 */
bool remote_capture_read(struct remote_capture *r, int64_t wait_ms);
/* Returns true if there is nothing more to read. */
bool remote_capture_is_over(const struct remote_capture *r);

/*
 * Returns true if the call ended before its first message because the server does not know the
 * method.
 */
bool remote_capture_is_unknown(const struct remote_capture *r);
/* Returns true if there was no connection to the server, or it broke before the first message. */
bool remote_capture_is_unreachable(const struct remote_capture *r);

/* Appends |bytes| to the file of the trace. 0, or a negative errno, which |error| explains. */
int remote_capture_append(
	struct remote_capture *r, const struct chunks *bytes, uint64_t *offset_out);

/*
 * Cancels the call unless it is over. Sets |error| in that case, and if the call has failed. An
 * incomplete trace is dropped, and its space is returned to the share.
 */
void remote_capture_end(struct remote_capture *r);
void remote_capture_deinit(struct remote_capture *r);

#endif
