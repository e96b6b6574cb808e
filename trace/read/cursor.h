/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the items of one track, in the order of start ascending, duration descending, on the view's time, what the
 * selection leaves out left out:
 *
 *	r = cursor_open(&c, view, track, d);
 *	while (r >= 0 && (r = cursor_next(&c, &item)) > 0)
 *		…
 *	cursor_close(&c);
 *
 * or, where nothing else is to be done with the cursor, by cursor_read().
 *
 * A line that is out of order in its file costs 16 bytes an event while it is read.
 */
#ifndef TRACE_READ_CURSOR_H
#define TRACE_READ_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/pbwire.h"
#include "trace/read/archive.h"

struct diag;
struct view;
struct view_host;
struct view_track;

enum item_kind {
	ITEM_SPAN, /* has a duration, which may be 0, or is a step, or has no end */
	ITEM_INSTANT, /* a point in time; the end of a flow, if it has one */
	ITEM_SAMPLE, /* of the counter |name|: the value is args[0], if there is one */
};

/* What the program gave along. Lives until the next cursor_next(). */
struct item_arg {
	const char *key; /* terminated */
	uint32_t key_index; /* of the plane's stat_names: equal for equal keys of one track */
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
	int64_t duration_ns; /* >= 0; 0 unless it is a span */
	bool is_unfinished; /* cut off where the recording ended */
	bool is_step;
	int64_t step_num; /* of a step */
	uint64_t
		flow_out; /* id of the flow that leaves here, the same in all of the view; 0: none */
	uint64_t flow_in;
	const struct item_arg
		*args; /* no links and marks; those that all events of its name have come last */
	size_t n_args;
};

struct cursor_place {
	int64_t start_ns;
	uint64_t offset; /* of the event in the line's bytes */
};

struct cursor {
	const struct view *view;
	const struct view_track *track;
	const struct view_host *host;
	struct pb_reader reader; /* of a line in order */
	const uint8_t *passed; /* up to here the archive's pages are not needed any more */
	struct cursor_place *order; /* of one that is not; NULL: none */
	size_t n_order;
	size_t at;
	unsigned int n_asked; /* for items */
	struct diag *diag;
	int64_t shift_ns;
	bool selects;
	uint64_t *counts; /* of items by name, where the selection is of iterations; else NULL */
	struct archive_stats stats;
	struct item_arg *args;
	size_t n_args_allocated;
};

/* 0 or -ENOMEM with |d|. cursor_close() in any case. */
int cursor_open(
	struct cursor *c, const struct view *view, const struct view_track *track, struct diag *d);
/* 1 and |item| is filled, 0 at the end, or a negative errno with cursor_open()'s |d|: -ENOMEM, -EBADMSG when somebody changed the file meanwhile, -ECANCELED as view->stop wants. */
int cursor_next(struct cursor *c, struct item *item);
/* The next item is the first one again; a line that was put in order stays so. */
void cursor_rewind(struct cursor *c);
void cursor_close(struct cursor *c);

/* Gets an item of the track that is read, for |context|. 0, or a negative errno that ends the reading. */
typedef int cursor_reader(void *context, const struct item *item);
/* All items of the track. 0, or a negative errno: the reader's, or of the above with |d|. */
int cursor_read(const struct view *view, const struct view_track *track, cursor_reader *reader,
	void *context, struct diag *d);

/* The value of a sample or an arg as a number; false: it is none. */
bool item_arg_to_double(const struct item_arg *arg, double *out);

#endif
