/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up a view, read event by event, for reports and comparisons. Memory grows with names,
 * threads and names of steps; it grows with events only as far as percentiles need it (sample.h).
 *
 * A flight recorder's snapshot is incomplete: rings were overwritten, up to different times. The
 * digest's time begins when all of them are complete, unless the selection has a start or is_whole,
 * or there is no such time.
 *
 * A span that is cut by an end of the recording, or of the digest's time, counts with the part
 * between in totals and self times only: the cursors cut it (view.h). Percentiles, minimum and
 * maximum are those of whole spans.
 *
 * Self time is the duration without that of the spans directly inside, on the same track. If spans
 * overlap without nesting, only the part inside of the parent is subtracted.
 */
#ifndef TRACE_REPORT_DIGEST_H
#define TRACE_REPORT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/selection.h"
#include "trace/report/busy.h"
#include "trace/report/gauges.h"
#include "trace/report/rows.h"
#include "trace/xspace/totals.h"

struct archive_plane;
struct diag;
struct view;
struct view_track;

/*
 * The kind of an event on a thread's line. In foreign traces a span may also be the end of a flow.
 */
enum digest_kind {
	DIGEST_SPAN, /* has a duration, or is a step, or has no end */
	DIGEST_INSTANT,
	DIGEST_FLOW_MARK,
	DIGEST_KINDS
};

/*
 * A thread or a device's stream. A thread that several servers recorded has a track for each, next
 * to each other: spans of one track do not nest in those of another. |busy| of the first track is
 * that of all.
 */
struct digest_track {
	const struct view_track *track;
	uint64_t n_of_kind[DIGEST_KINDS];
	struct rows rows; /* without durations, which are in the lists of the whole view */
	struct busy busy;
};

/* The sums over all tracks of a program or a device. */
struct digest_process {
	struct busy busy;
	uint64_t n_spans;
	size_t n_tracks; /* tracks that have spans */
};

/* A plane of a file. */
struct digest_plane {
	size_t host;
	const struct archive_plane *plane;
	struct rows steps; /* by name, with durations */
	struct rows asyncs; /* by name; self_ns has no meaning */
	struct flows flows;
	struct gauges counters;
};

/* Numbers of events with wanted names that are in no list by name. */
struct digest_rest {
	uint64_t n_samples;
	uint64_t n_flow_ends;
	uint64_t n_args;
	uint64_t n_derived; /* spans on derived lines; they are in the totals */
};

/* Lists of the whole view, with durations. */
enum digest_list {
	LIST_SPANS, /* spans of threads */
	LIST_KERNELS, /* spans of devices' streams */
	LIST_ASYNCS,
	LIST_STEPS, /* empty until digest_gather_steps() */
	DIGEST_LISTS
};

struct digest {
	struct view *view; /* a shallow copy of the caller's view that selects all names */
	/* The view's selection, but from complete_ns on; used if the caller's has no start */
	struct selection selection;
	/* The recording is complete since this time; INT64_MIN: always, or unknown */
	int64_t complete_ns;
	int64_t begin_ns; /* the digest's time: the selected part of the recordings */
	int64_t end_ns;
	struct report_totals totals;
	struct digest_plane *planes; /* planes of all hosts, in their order */
	size_t n_planes;
	size_t *first_plane; /* index of each host's first plane */
	struct digest_window *recordings; /* time of each host's recording, before any selection */
	struct digest_track *tracks; /* the view's threads and streams */
	size_t n_tracks;
	struct digest_process *processes; /* one for each of the view's origins */
	struct rows lists[DIGEST_LISTS];
	uint8_t *wanted; /* by name; NULL: all are wanted */
	struct digest_rest rest;
};

/*
 * Reads |view|, which is borrowed, and keeps the events with wanted names; the others still count
 * in the totals and in self times. 0, or a negative errno with |d|; the caller owns *out.
 */
int digest_make(const struct view *view, struct digest **out, struct diag *d);
struct digest *digest_free(struct digest *g); /* NULL ok; returns NULL */
static inline void digest_freep(struct digest **g)
{
	digest_free(*g);
}

/* Moves the steps of all planes into LIST_STEPS. 0 or -ENOMEM. */
int digest_gather_steps(struct digest *g);
/* Sorts the lists of spans and kernels, also those of each track. */
void digest_sort(struct digest *g, enum row_key key);

/*
 * Returns how many of the tracks behind |track| are of the same thread, recorded by other servers;
 * 0 if |track| itself is such a track.
 */
size_t digest_count_seconds(const struct digest *g, const struct digest_track *track);
/* True if the track is of the same thread as the one before it. */
bool digest_track_is_second(const struct digest *g, const struct digest_track *track);

struct digest_window {
	int64_t begin_ns;
	int64_t end_ns; /* >= begin_ns */
};

/*
 * Returns the time in which it is known whether a track was busy: the recording of its file, as far
 * as it is in the digest's time and its plane is complete. Other servers leave out spans that were
 * open when a recording began or ended; the window of their threads is from the first event to the
 * last.
 */
struct digest_window digest_find_window(const struct digest *g, const struct view_track *track);
/* True if there is a thread of such a server. */
bool digest_has_unknown_ends(const struct digest *g);
/*
 * Returns the window of a program or device without any spans; it is empty for JAX's servers, since
 * nothing is known.
 */
struct digest_window digest_find_process_window(const struct digest *g, size_t process);

/* Returns the index of the track's plane. */
size_t digest_find_plane(const struct digest *g, const struct view_track *track);

/* Finds the start of the recordings and their length together; false if no file has them. */
bool digest_get_session(const struct view *view, uint64_t *start_unix_ns, uint64_t *duration_ns);

#endif
