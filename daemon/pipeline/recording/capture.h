/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording from start to bytes: waits for its time, arms, drains, stops, assembles, encodes.
 * It runs on the thread that greeted the target, one at a time.
 */
#ifndef DAEMON_CAPTURE_H
#define DAEMON_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/status.h"

struct capture_request;
struct capture_result;
struct delivery;
struct family;
struct headroom;
struct target;
struct progress;

/* A capture is armed this long before its start. Other captures must wait from then on. */
#define CAPTURE_ARM_NS INT64_C(100000000)
/* The same when the program uses a device, whose library takes up to a second to begin. */
#define CAPTURE_ARM_DEVICES_NS INT64_C(1000000000)

/*
 * Controls a capture that runs, and is informed of its progress. Its owner keeps it until
 * capture_run() has returned and the last snapshot was delivered.
 */
struct capture_control {
	const _Atomic int *stop; /* nonzero: end now, keep the data */
	const _Atomic int *cancel; /* nonzero: end now, no data wanted */
	struct progress *progress; /* NULL, or where the capture notes how far it is */
	void (*on_begin)(void *context); /* called when it records, or waits for its time */
	/*
	 * Called often, before the flags are read, and after the end of the recording while slots
	 * are still encoded. NULL in a part's control.
	 */
	void (*on_poll)(void *context);
	void (*on_gone)(void *context); /* called when recording ended because the target is gone */
	/*
	 * If the request keeps the newest, the worker often calls |next_snapshot|. It returns an
	 * object for a client that wants the data since the last snapshot (or the start), or NULL.
	 * |deliver_snapshot| gets that object on any thread, with a result and |d| like those of
	 * capture_run().
	 */
	void *(*next_snapshot)(void *context);
	void (*deliver_snapshot)(
		void *snapshot, int r, struct capture_result *result, struct diag *d);
	void *context;
};

struct capture_result {
	struct delivery *delivery; /* the encoded XSpace */
	bool is_empty; /* no line of any plane has an event */
	uint64_t n_events; /* in all lines, samples of counters and of usage included */
	uint64_t n_dropped; /* losses of all kinds: the sum of the planes' "dropped_traces" */
	uint64_t start_unix_ns; /* of the recording */
	uint64_t duration_ns;
	char gpu[STATUS_GPU_BYTES]; /* as in struct status */
	/*
	 * The start of the trace, CLOCK_MONOTONIC, if a host daemon that passes it on adds the
	 * machine's usage; else 0.
	 */
	int64_t usage_since_ns;
	void (*on_taken)(
		void *context); /* called on any thread when the receiver has it; NULL ok */
	void *on_taken_context;
};

/* Outcomes besides 0, -ENOMEM, and other negative ones with a text. */
enum {
	CAPTURE_CANCELLED = 1,
	CAPTURE_NO_TARGET = 2, /* the program was gone before anything could be recorded */
	CAPTURE_BUSY = 3, /* for a session: somebody else records at that time; the text says who */
};

/*
 * Owner: result->delivery belongs to the caller (delivery_free). It is NULL when the outcome is not
 * 0.
 */
int capture_run(struct family *f, const struct capture_request *request,
	const struct capture_control *control, struct capture_result *result, struct diag *d);

/* Notes that the receiver has the result, as far as that can be known. */
void capture_result_note_taken(const struct capture_result *result);

/*
 * Makes the result of a capture that was ended before its start: an empty trace with a
 * warning. 0 or -ENOMEM.
 */
int capture_make_unbegun(struct capture_result *result);

/*
 * The memory that a capture that requests |bytes| (0: the default) may take. |h|
 * caches the headroom.
 */
uint64_t capture_find_max_bytes(uint64_t bytes, struct headroom *h);

/*
 * CAPTURE_ARM_NS or CAPTURE_ARM_DEVICES_NS, whichever |t| needs as far as is known. Any thread may
 * call it.
 */
int64_t capture_find_arm_ns(const struct target *t, bool wants_devices);

/*
 * Converts |start_timestamp_ns| (Unix time) to CLOCK_MONOTONIC, by the present clock. The result is
 * above 0. Only 0, which means no time, stays 0.
 */
int64_t capture_find_start_ns(uint64_t start_timestamp_ns);
/* The time until |start_timestamp_ns|, at least 0. */
int64_t capture_find_wait_ns(uint64_t start_timestamp_ns);

#endif
