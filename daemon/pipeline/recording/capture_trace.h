/* SPDX-License-Identifier: Apache-2.0 */
/* From what was recorded to bytes: the planes of all processes, what the client is told beside them, and the delivery. */
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

/* One on its way; all that it points to is borrowed. */
struct capture_trace {
	const struct capture_request *request;
	const struct capture_control *control; /* of it: |cancel|, |on_look| */
	const struct target *target; /* the program that started the server */
	struct recording *recording; /* ended; its sources are used up */
	struct space *space; /* has what was said before, if anything */
	struct async_carries *carries; /* of a part of a session, or NULL */
	unsigned level; /* the request's, or 0 when it was ended before its start */
	/* While it is made. */
	int64_t origin_ns; /* since the recording's start: where the trace begins */
	bool is_silent; /* no thread recorded anything; there may be usage */
};

/* |result| is zero; its delivery is as capture_run() has it. 0, -ENOMEM, or -ECANCELED. */
int capture_trace_make(struct capture_trace *t, struct capture_result *result);

#endif
