/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a capture's trace of its recording: the planes of all processes, the figures for the
 * client, and the delivery.
 */
#ifndef DAEMON_CAPTURE_TRACE_H
#define DAEMON_CAPTURE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct async_carries;
struct capture_control;
struct capture_request;
struct capture_result;
struct recording;
struct space;
struct target;

/* A trace that is being made; all pointers are borrowed. */
struct capture_trace {
	const struct capture_request *request;
	const struct capture_control *control; /* only |cancel| and |on_poll| are used */
	const struct target *target; /* the program that started the server */
	struct recording *recording; /* ended; its sources are used up */
	struct space *space; /* may have warnings already */
	struct async_carries *carries; /* for a part of a session, or NULL */
	unsigned level; /* host_tracer_level, or 0 when the capture was ended before its start */
	/* The rest is set while the trace is made. */
	int64_t origin_ns; /* begin of the trace, since the recording's start */
	bool is_silent; /* no thread recorded anything; there may be usage */
};

/* |result| is zero at first; its delivery is as for capture_run(). 0, -ENOMEM, or -ECANCELED. */
int capture_trace_make(struct capture_trace *t, struct capture_result *result);

#endif
