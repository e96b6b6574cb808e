/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the spans that are open in the threads of a process from its arena and /proc, into an
 * OpenSpansReply of proftap.v1.
 */
#ifndef DAEMON_OPEN_SPANS_H
#define DAEMON_OPEN_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/target/timeline.h"
#include "proftap/v1/profiler.pb-c.h"

struct listed_thread;
struct target;

/*
 * The threads of a process. They are listed before the arena is read, because listing takes longer
 * than a lock may be held.
 */
struct open_spans_list {
	pid_t pid;
	bool has_own_tids; /* as in struct target */
	struct listed_thread *v; /* malloc'ed */
	size_t n;
	int error; /* 0, or a negative errno: /proc could not be read */
};

/* Converts ticks to ages. */
struct open_spans_clock {
	struct clock_pair first; /* read at the handshake with the program */
	struct clock_pair now;
	double ns_per_tick;
	int64_t unix_ns; /* with |now| */
};

/* Reads the clocks. This takes some milliseconds if ticks are those of the processor. */
void open_spans_clock_read(
	struct open_spans_clock *c, const struct clock_pair *first, bool uses_ticks);

struct open_spans {
	Proftap__V1__OpenSpansReply reply;
	struct open_spans_room *rooms; /* memory of all that |reply| points to */
	size_t n_bytes; /* of |rooms| */
	size_t n_async_slots; /* limit for further slots that are searched for async spans */
	struct open_spans_clock clock;
	int error; /* 0, or -ENOMEM after any allocation has failed */
};

/* All members except the clock are zero at first. Call deinit in any case. */
void open_spans_init(struct open_spans *o, const struct open_spans_clock *clock);
void open_spans_deinit(struct open_spans *o);

/*
 * Adds |t|, which may run, be stopped or be dead, with its threads |list| and their open spans.
 * |recording| (a literal) and |level| are those of ProcessSpans; "" means that |t| is not recorded
 * and no spans are known. If memory runs out, parts are missing, and o->error is set.
 */
void open_spans_add(struct open_spans *o, struct target *t, const struct open_spans_list *list,
	const char *recording, unsigned level);

/*
 * Adds |t| likewise, but with the newest values of its counters and its last steps
 * (latest_values.h) instead of its open spans.
 */
void open_spans_add_latest(
	struct open_spans *o, struct target *t, const char *recording, unsigned level);

#endif
