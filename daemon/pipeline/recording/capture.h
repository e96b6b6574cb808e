/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording from start to bytes: waits for its time, arms, drains, stops, assembles, encodes. It runs on
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

/* A capture is armed so long before its time. Other captures must wait from then on. */
#define CAPTURE_ARM_NS INT64_C(100000000)
/* The same when the program uses a device, whose library takes up to a second to begin. */
#define CAPTURE_ARM_DEVICES_NS INT64_C(1000000000)

/* The request of a capture. */
struct capture_request {
	unsigned level; /* host_tracer_level, 0–3 */
	const struct profile_options *
		device_options; /* for collectors (collect_options.h); NULL: devices are not recorded */
	/* All options of the request, for warnings about those without effect; NULL: the flight recorder's */
	const struct profile_options *asked;
	uint64_t duration_ms; /* UINT64_MAX: until it is stopped */
	uint64_t start_timestamp_ns; /* Unix time; 0 or past: now */
	int64_t start_ns; /* capture_find_start_ns() of that at the time of the request: the clock may have been set since */
	/*
	 * A session of unknown length keeps the newest records. The worker often calls |next_snapshot|, which returns an object for a client
	 * that wants the records since the last snapshot (or the start), or NULL. |deliver_snapshot| gets that object on any thread,
	 * with a result and |d| as of capture_run().
	 */
	bool keeps_newest;
	void *(*next_snapshot)(void *context);
	void (*deliver_snapshot)(
		void *snapshot, int r, struct capture_result *result, struct diag *d);
	uint64_t max_bytes; /* of memory in this process and of its spool; 0: the default */
	uint64_t
		window_bytes; /* of raw records in memory before they are spooled; 0: the default */
	uint64_t
		max_xspace_bytes; /* the most that the client can take; the newest are kept. 0: any number */
	int64_t usage_interval_ms; /* between two samples of the processes' usage; 0: none */
	const uint8_t *options; /* serialised ProfileOptions, echoed into the trace */
	size_t options_bytes;
	bool wants_machine_usage; /* a host daemon passes the trace on, and adds the machine's usage */
	bool has_others; /* traces of other processes join this one: its sentences are about this process only */
	const char *reason; /* goes into the trace, when no call asked for it; NULL: none */
	const char *const *warnings; /* go into the trace */
	size_t n_warnings;
	const _Atomic int *stop; /* nonzero: end now, keep the data */
	const _Atomic int *cancel; /* nonzero: end now, no data wanted */
	struct progress *progress; /* where it tells its progress; NULL: nowhere */
	void (*on_begin)(void *context); /* called when it records, or waits for its time */
	/* Called often, before the flags are looked at, and while the rest is encoded. NULL for a part. */
	void (*on_look)(void *context);
	void (*on_gone)(void *context); /* called when recording ended because the target is gone */
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
	/* Its start, CLOCK_MONOTONIC, if a host daemon that passes it on adds the machine's usage; else 0. */
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

/* Owner: result->delivery belongs to the caller (delivery_free). It is NULL when the outcome is not 0. */
int capture_run(struct family *f, const struct capture_request *request,
	struct capture_result *result, struct diag *d);

/* Notes that the receiver has the result, as far as that can be known. */
void capture_result_note_taken(const struct capture_result *result);

/* Makes the result of a capture that was ended before its start: an empty trace that says so. 0 or -ENOMEM. */
int capture_make_unbegun(struct capture_result *result);

/* The memory that a capture may take that asked for |bytes| (0: the default). |h| keeps what was read for it. */
uint64_t capture_find_max_bytes(uint64_t bytes, struct headroom *h);

/* CAPTURE_ARM_NS or CAPTURE_ARM_DEVICES_NS, whichever |t| needs as far as is known. Any thread. */
int64_t capture_find_arm_ns(const struct target *t, bool wants_devices);

/* Converts |start_timestamp_ns| (Unix time) to CLOCK_MONOTONIC, by the present clock: above 0, and 0 for 0, which means no time. */
int64_t capture_find_start_ns(uint64_t start_timestamp_ns);
/* The time until then, at least 0. */
int64_t capture_find_wait_ns(uint64_t start_timestamp_ns);

#endif
