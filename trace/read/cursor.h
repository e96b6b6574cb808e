/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor reads the selected items of one track, in order (start ascending, duration descending),
 * on the view's time:
 *
 *	r = cursor_open(&c, view, track, d);
 *	while (r >= 0 && (r = cursor_next(&c, &item)) > 0)
 *		…
 *	cursor_close(&c);
 *
 * cursor_read() does this in one call.
 *
 * A line that is out of order in its file costs 16 bytes an event while it is read. A track that is
 * in several files of one recording is read from all of them at once, and an event that several of
 * them contain is returned once.
 */
#ifndef TRACE_READ_CURSOR_H
#define TRACE_READ_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/archive.h"
#include "trace/read/event.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"

struct diag;
struct view;
struct view_host;
struct view_track;

enum item_kind {
	ITEM_SPAN, /* has a duration, which may be 0, or is a step, or has no end */
	ITEM_INSTANT, /* a point in time; may be the end of a flow */
	ITEM_SAMPLE, /* a sample of the counter |name|; its value is args[0], if there is one */
	/*
	 * A sample of a thread, with the stack |stack| and the function |name|. Without a duration,
	 * the thread ran; with one, it waited for that long.
	 */
	ITEM_CPU_SAMPLE,
	ITEM_STATE, /* the thread was in the state |name| for the duration */
};

/* An argument that the program gave to an event. Valid until the next cursor_next(). */
struct item_arg {
	const char *key; /* terminated */
	/* Index into the stat_names of the track's plane: equal for equal keys */
	uint32_t key_index;
	enum stat_type type;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
	} value;
	const char *text; /* STAT_STRING, STAT_BYTES: not terminated, any bytes */
	size_t n_bytes;
};

struct item {
	enum item_kind kind;
	uint32_t name; /* index into the view's names */
	int64_t start_ns; /* may be negative: before the beginning of the first recording */
	int64_t duration_ns; /* >= 0; 0 unless it is a span, or a sample of waiting */
	bool is_unfinished; /* cut at the end of the recording or selected time */
	bool is_started_before; /* began before the recording or the selected time: cut there */
	bool is_step;
	int64_t step_num; /* valid if is_step */
	uint32_t stack; /* of a sample: number in the view's stacks; STACKS_NONE: unknown */
	/* A sample of waiting stands for so many such times, because most have no sample */
	uint64_t n_waits;
	uint64_t flow_out; /* id of the flow that leaves here, unique in the view; 0: none */
	uint64_t flow_in; /* id of the flow that arrives here */
	/* Without hidden stats; the arguments that all events of its name share come last */
	const struct item_arg *args;
	size_t n_args;
};

/* True if the duration is that in the program: the span was not cut. */
static inline bool item_is_whole(const struct item *item)
{
	return !item->is_unfinished && !item->is_started_before;
}

/* True if it is a sample of a thread that waited. */
static inline bool item_is_waiting(const struct item *item)
{
	return item->kind == ITEM_CPU_SAMPLE && item->duration_ns > 0;
}

/* Finds an argument; NULL: there is none. Borrowed from |item|. */
const struct item_arg *item_find_arg(const struct item *item, const char *key);

/* Returns the time of waiting that a sample stands for; 0: the thread ran. */
static inline int64_t item_get_waiting(const struct item *item)
{
	return mul_saturated(item->duration_ns, item->n_waits);
}

struct cursor_place {
	int64_t start_ns;
	uint64_t offset; /* offset of the event in the line's bytes */
};

/* A file that has a line of the track. */
struct cursor_source {
	const struct archive_plane *plane; /* has the names of the events */
	const struct archive_line *line;
	struct pb_reader reader;
	const uint8_t *passed; /* see archive_pass() */
	struct cursor_place *order; /* sorted events of a line that is out of order; else NULL */
	size_t n_order;
	size_t at; /* index into |order| */
	bool is_read; /* |event| and |stats| are the next event */
	bool is_over;
	struct archive_event event;
	struct archive_stats stats;
};

#define CURSOR_RECENT 512 /* events that are kept to find repetitions */

/* An event that was read, and may come once more from another file of the same recording. */
struct cursor_recent {
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t name;
	const struct cursor_source *from;
	/* Plane of another file that has the event too; NULL: none yet */
	const struct archive_plane *twin;
};

struct cursor {
	const struct view *view;
	const struct view_track *track;
	const struct view_host *host;
	struct cursor_source *sources; /* one for each file of the track, sorted by first event */
	size_t n_sources;
	size_t n_begun; /* sources, from the first on, whose reading has begun */
	size_t n_over; /* sources, from the first on, that have no further event */
	struct cursor_recent *recent; /* a ring; NULL if there is one file */
	size_t n_recent; /* events ever put into |recent| */
	int64_t rounding_ns; /* the most that the times of one event differ between files */
	unsigned int n_asked; /* calls of cursor_next() */
	struct diag *diag;
	int64_t shift_ns;
	bool selects;
	/*
	 * Items have names and times only: no arguments, steps and flows. Set it after
	 * cursor_open(). If several files are merged, stats are read all the same.
	 */
	bool skips_stats;
	/* Items so far by name, if the selection counts them as iterations; else NULL */
	uint64_t *counts;
	struct item_arg *args;
	size_t n_args_allocated;
};

/* 0 or -ENOMEM with |d|. Call cursor_close() in any case. */
int cursor_open(
	struct cursor *c, const struct view *view, const struct view_track *track, struct diag *d);
/*
 * Returns 1 with |item|, 0 at the end, or a negative errno with cursor_open()'s |d|: -ENOMEM,
 * -EBADMSG when the file was changed meanwhile, -ECANCELED when view->stop is wanted.
 */
int cursor_next(struct cursor *c, struct item *item);
/* Begins with the first item again; the order of a line that had to be sorted is kept. */
void cursor_rewind(struct cursor *c);
void cursor_close(struct cursor *c);

/* Gets each item of a track. 0, or a negative errno that ends the reading. */
typedef int cursor_reader(void *context, const struct item *item);
/*
 * Reads all items of the track. 0, or a negative errno: that of |reader|, or that of the cursor,
 * which also sets |d|.
 */
int cursor_read(const struct view *view, const struct view_track *track, cursor_reader *reader,
	void *context, struct diag *d);
/*
 * Reads all items with skips_stats, which takes half the time; then every event without a duration
 * is an instant.
 */
int cursor_read_times(const struct view *view, const struct view_track *track,
	cursor_reader *reader, void *context, struct diag *d);

/* Converts the value of a sample or an argument to a number; false if it is none. */
bool item_arg_to_double(const struct item_arg *arg, double *out);
/*
 * Sets *value to the value of a sample, which is the first number among its arguments. False if
 * there is none, or it is not finite.
 */
bool item_get_sample(const struct item *item, double *value);

#endif
