/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a view amounts to, read event by event: what reports print and comparisons compare. Memory grows with names, threads and
 * steps' names; with events only as far as percentiles need it (sample.h).
 *
 * A flight recorder's snapshot does not have all that happened: rings were written over, at different times. A digest looks at
 * the time from which on all of them are complete, unless the selection says since when, or is_whole, or there is none.
 *
 * Of a span that an edge of the recording, or of the time that is looked at, cuts, the part between counts in totals and self times
 * only: its cursors cut it (view.h), for what lies before is not known as well. Percentiles and the like are of whole spans.
 *
 * Self time is the duration less that of the spans directly inside, on the same track. Where spans overlap without nesting, only
 * the part inside of the parent is taken off.
 */
#ifndef TRACE_REPORT_DIGEST_H
#define TRACE_REPORT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/selection.h"
#include "trace/report/busy.h"
#include "trace/report/flows.h"
#include "trace/report/gauges.h"
#include "trace/report/rows.h"
#include "trace/xspace/totals.h"

struct archive_plane;
struct diag;
struct view;
struct view_track;

/* What an event on a thread's line is. A span may be the end of a flow, too: what others than we record. */
enum digest_kind {
	DIGEST_SPAN, /* has a duration, or is a step, or has no end */
	DIGEST_INSTANT,
	DIGEST_FLOW_MARK,
	DIGEST_KINDS
};

/*
 * A thread or a device's stream. A thread that several servers saw has one for each, next to each other: spans of one are not inside
 * of those of another. Only |busy| of the first is that of all.
 */
struct digest_track {
	const struct view_track *track;
	uint64_t n_of_kind[DIGEST_KINDS];
	struct rows rows; /* no durations in them: those are in the lists of the whole */
	struct busy busy;
};

/* A program or a device: its tracks taken together. */
struct digest_process {
	struct busy busy;
	uint64_t n_spans;
	size_t n_tracks; /* that have spans */
};

/* One plane of one file. */
struct digest_plane {
	size_t host;
	const struct archive_plane *plane;
	struct rows steps; /* by name; they have their durations */
	struct rows asyncs; /* self_ns is of no meaning */
	struct flows flows;
	struct gauges counters;
};

/* Counts of events with wanted names that no list by name has. */
struct digest_rest {
	uint64_t n_samples;
	uint64_t n_flow_ends;
	uint64_t n_args;
	uint64_t n_derived; /* spans on derived lines: they are in the totals */
};

/* Lists of the whole view, which have the durations of their spans. */
enum digest_list {
	LIST_SPANS, /* of threads */
	LIST_KERNELS, /* what runs on devices' streams */
	LIST_ASYNCS,
	LIST_STEPS, /* empty until digest_gather_steps() */
	DIGEST_LISTS
};

struct digest {
	struct view *view; /* a copy: what it points to is the caller's, but it selects no names */
	struct selection
		selection; /* the view's, from complete_ns on; used where the caller's does not say since when */
	int64_t complete_ns; /* since then the recording has all that happened; INT64_MIN: it always has, or does not tell */
	int64_t begin_ns; /* the time that is looked at: the recordings, and what is selected of them */
	int64_t end_ns;
	struct report_totals totals;
	struct digest_plane *planes; /* of all hosts, in their order */
	size_t n_planes;
	size_t *first_plane; /* of each host */
	struct digest_window *recordings; /* of each host, before any selection */
	struct digest_track *tracks; /* those of the view that are threads or streams */
	size_t n_tracks;
	struct digest_process *processes; /* one for each origin of the view */
	struct rows lists[DIGEST_LISTS];
	uint8_t *wanted; /* by name; NULL: all are */
	struct digest_rest rest;
};

/*
 * Reads |view|, which is borrowed, and keeps what has wanted names: the others still count in the totals and in self times.
 * 0, or a negative errno with |d|; *out belongs to the caller.
 */
int digest_make(const struct view *view, struct digest **out, struct diag *d);
struct digest *digest_free(struct digest *g); /* NULL ok; returns NULL */
static inline void digest_freep(struct digest **g)
{
	digest_free(*g);
}

/* Moves the steps of all planes into the list of the whole. 0 or -ENOMEM. */
int digest_gather_steps(struct digest *g);
/* Sorts what is listed by name: spans and kernels, also of each track. */
void digest_sort(struct digest *g, enum row_key key);

/* How many of the tracks that follow |track| are what other servers saw of the same thread; 0 of one that is told with another. */
size_t digest_count_seconds(const struct digest *g, const struct digest_track *track);
/* Whether it is told with the one before it. */
bool digest_track_is_second(const struct digest *g, const struct digest_track *track);

struct digest_window {
	int64_t begin_ns;
	int64_t end_ns; /* not before the begin */
};

/*
 * When it is known whether a track was busy: in the recording of its file, of which several have one each, as far as that is looked at
 * and its plane has all. Servers of others leave out spans that were open when a recording began or ended, so of their threads only the
 * time from the first event to the last is known.
 */
struct digest_window digest_find_window(const struct digest *g, const struct view_track *track);
/* Whether there is a thread of which the latter is true. */
bool digest_has_unknown_ends(const struct digest *g);
/* The window of a program or device none of whose tracks has spans; that of JAX's servers is empty then: nothing is known. */
struct digest_window digest_find_process_window(const struct digest *g, size_t process);

/* The index of the plane that a track is on. */
size_t digest_find_plane(const struct digest *g, const struct view_track *track);

/* When the recordings began and how long they were together; false if none of the files tells. */
bool digest_get_session(const struct view *view, uint64_t *start_unix_ns, uint64_t *duration_ns);

#endif
