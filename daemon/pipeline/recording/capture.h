/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording from start to bytes: wait for its time, arm, drain, stop, assemble, encode. It runs on
 * the thread that greeted the target, one at a time.
 */
#ifndef DAEMON_CAPTURE_H
#define DAEMON_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/status.h"

struct capture_result;
struct delivery;
struct family;
struct headroom;
struct profile_options;
struct target;
struct progress;

/* How long before its time a capture is armed. Who wants to record in between must wait. */
#define CAPTURE_ARM_NS INT64_C(100000000)
/* The same where the program uses a device: its library takes up to a second to begin. */
#define CAPTURE_ARM_DEVICES_NS INT64_C(1000000000)

/* What to record. */
struct capture_request {
	unsigned level; /* host_tracer_level, 0–3 */
	const struct profile_options *
		device_options; /* what collectors are told (collect_options.h); NULL: devices are not recorded */
	/* What was asked for, for warnings about what is not done; NULL: the flight recorder's options */
	const struct profile_options *asked;
	uint64_t duration_ms; /* UINT64_MAX: until it is stopped */
	uint64_t start_timestamp_ns; /* Unix time; 0 or past: now */
	int64_t start_ns; /* capture_find_start_ns() of that, when it was asked for: the clock may be set since */
	/*
	 * Of a session whose length nobody knows: what does not fit pushes out the oldest. The worker asks often for
	 * |next_snapshot|, who wants what was recorded since the one before (or the start), or NULL;
	 * |deliver_snapshot| gets it, on any thread, with a result and |d| as of capture_run().
	 */
	bool keeps_newest;
	void *(*next_snapshot)(void *context);
	void (*deliver_snapshot)(
		void *snapshot, int r, struct capture_result *result, struct diag *d);
	uint64_t max_bytes; /* of memory in this process and of its spool; 0: the default */
	uint64_t
		window_bytes; /* of raw records in memory before they are spooled; 0: the default */
	uint64_t
		max_xspace_bytes; /* that the client can take; the newest are kept. 0: any number */
	int64_t usage_interval_ms; /* between two samples of what the processes use; 0: none */
	const uint8_t *options; /* serialised ProfileOptions, echoed into the trace */
	size_t options_bytes;
	bool wants_machine_usage; /* of a host daemon that passes the trace on */
	bool has_others; /* traces of other processes join this one: what is said of it is not said of them */
	const char *reason; /* of a trace that nobody's call waits for, goes into it; NULL: none */
	const char *const *warnings; /* that go into the trace */
	size_t n_warnings;
	const _Atomic int *stop; /* nonzero: end now, keep the data */
	const _Atomic int *cancel; /* nonzero: end now, no data wanted */
	struct progress *progress; /* NULL, or where it says how far it is */
	void (*on_begin)(void *context); /* called when it records, or waits for its time */
	/* Called often, before the flags are looked at; then also while the rest is encoded. Of a part: NULL. */
	void (*on_look)(void *context);
	void (*on_gone)(void *context); /* called when recording ended because the target is gone */
	void *context;
};

struct capture_result {
	struct delivery *delivery; /* the encoded XSpace */
	bool is_empty; /* no line of any plane has an event */
	uint64_t n_events; /* in all lines, samples of counters and of usage included */
	uint64_t
		n_dropped; /* what was lost, for all reasons, as the planes' "dropped_traces" say it */
	uint64_t start_unix_ns; /* of the recording */
	uint64_t duration_ns;
	char gpu[STATUS_GPU_BYTES]; /* as struct status has it */
	/* Its start, CLOCK_MONOTONIC, when a host daemon that passes it on is to add what the machine used; else 0. */
	int64_t usage_since_ns;
	void (*on_taken)(
		void *context); /* called when whoever it is for has it, on any thread; NULL ok */
	void *on_taken_context;
};

/* Outcomes besides 0, -ENOMEM, and other negative ones with a text. */
enum {
	CAPTURE_CANCELLED = 1,
	CAPTURE_NO_TARGET = 2, /* it was gone before anything could be recorded */
	CAPTURE_BUSY =
		3, /* of a session's request: somebody else records at its time; the text says who */
};

/* Owner: result->delivery belongs to the caller (delivery_free). It is NULL when the outcome is not 0. */
int capture_run(struct family *f, const struct capture_request *request,
	struct capture_result *result, struct diag *d);

/* It was given to whoever it is for, as far as that can be known. */
void capture_result_note_taken(const struct capture_result *result);

/* The result of a capture that was ended before its start: empty, and says so. 0 or -ENOMEM. */
int capture_make_unbegun(struct capture_result *result);

/* How much memory a capture may take that asked for |bytes|; 0: the default. What is read for it |h| keeps. */
uint64_t capture_find_max_bytes(uint64_t bytes, struct headroom *h);

/* Which of the two it is for |t|, as far as is known. Any thread. */
int64_t capture_find_arm_ns(const struct target *t, bool wants_devices);

/* When it is |start_timestamp_ns| (Unix time) by the clock as it is now: CLOCK_MONOTONIC, above 0; 0 where that is 0, which is no time. */
int64_t capture_find_start_ns(uint64_t start_timestamp_ns);
/* How long it is until then, at least 0. */
int64_t capture_find_wait_ns(uint64_t start_timestamp_ns);

#endif
