/* SPDX-License-Identifier: Apache-2.0 */
/* How many traces may be on their way to clients at a time. Any thread. */
#ifndef DAEMON_STREAM_PLACE_H
#define DAEMON_STREAM_PLACE_H

#include <stdatomic.h>

/* Each has a thread, and maybe a trace whose reader is slow. */
#define TRACE_STREAM_MAX 8
/* And so many of captures that wait for their time, which have no trace yet. */
#define TRACE_STREAM_MAX_WAITING 64

/* How many there are. */
struct trace_streams {
	atomic_uint n;
	atomic_uint n_waiting; /* that were for later, and have no trace yet */
};

struct stream_place {
	struct trace_streams *all;
	int is_for_later;
};

/* 0, or -EUSERS: there are too many of its kind. */
int stream_place_take(const struct stream_place *p);
void stream_place_leave(const struct stream_place *p);
/* It has a trace now. It is not refused, though there be many: only one is recorded at a time. */
void stream_place_change(struct stream_place *p);

#endif
