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
 * A line that is out of order in its file costs 16 bytes an event while it is read. A track that is in several files of one
 * recording is read from all of them at once, and what more than one of them has comes once.
 */
#ifndef TRACE_READ_CURSOR_H
#define TRACE_READ_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/archive.h"
#include "trace/read/event.h"
#include "trace/xspace/pbwire.h"

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
	uint32_t
		key_index; /* of the stat_names of the track's plane: equal for equal keys of one track */
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
	bool is_started_before; /* cut off where the recording began: an end whose begin is not there */
	bool is_step;
	int64_t step_num; /* of a step */
	uint64_t
		flow_out; /* id of the flow that leaves here, the same in all of the view; 0: none */
	uint64_t flow_in;
	const struct item_arg
		*args; /* no links and marks; those that all events of its name have come last */
	size_t n_args;
};

/* Whether its duration is the one that it had in the program. */
static inline bool item_is_whole(const struct item *item)
{
	return !item->is_unfinished && !item->is_started_before;
}

struct cursor_place {
	int64_t start_ns;
	uint64_t offset; /* of the event in the line's bytes */
};

/* A line of one file. */
struct cursor_reach {
	const struct archive_plane *plane; /* whose names its events refer to */
	const struct archive_line *line;
	struct pb_reader reader; /* of a line in order */
	const uint8_t *passed; /* up to here the archive's pages are not needed any more */
	struct cursor_place *order; /* of one that is not; NULL: none */
	size_t n_order;
	size_t at;
	bool is_read; /* |event| and |stats| are the next event */
	bool is_over;
	struct archive_event event;
	struct archive_stats stats;
};

/* Events that came already, and may come once more from another file of the same recording. */
#define CURSOR_RECENT 512

struct cursor_recent {
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t name;
	const struct cursor_reach *from;
	const struct archive_plane
		*twin; /* of the file in which it was found, too; NULL: in none */
};

struct cursor {
	const struct view *view;
	const struct view_track *track;
	const struct view_host *host;
	struct cursor_reach *reaches; /* one for each file that the track is in, by their starts */
	size_t n_reaches;
	size_t n_begun; /* of these, that may have the next event */
	size_t n_over; /* of these, that have none, from the first on */
	struct cursor_recent *recent; /* NULL: there is one file */
	size_t n_recent; /* ever kept */
	int64_t rounding_ns; /* that the times of one event differ between the files, at most */
	unsigned int n_asked; /* for items */
	struct diag *diag;
	int64_t shift_ns;
	bool selects;
	bool skips_stats; /* items have names and times alone: no arguments, steps and flows. Set after cursor_open(); where several files are merged their marks are read all the same */
	uint64_t *counts; /* of items by name, where the selection is of iterations; else NULL */
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
/*
 * Reads the same with skips_stats, which takes half the time: every event without a duration is an
 * instant then.
 */
int cursor_read_times(const struct view *view, const struct view_track *track,
	cursor_reader *reader, void *context, struct diag *d);

/* The value of a sample or an arg as a number; false: it is none. */
bool item_arg_to_double(const struct item_arg *arg, double *out);

#endif
