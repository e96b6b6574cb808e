/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums up a view, read event by event, for reports and comparisons. Memory grows with names,
 * threads and names of steps; it grows with events only as far as percentiles need it (sample.h).
 *
 * A flight recorder's snapshot is incomplete: rings were overwritten, up to different times. The
 * digest's time begins when all of them are complete, unless the selection has a start or is_whole,
 * or there is no such time.
 *
 * If an end of the recording or of the digest's time cuts a span, only the part inside counts, and
 * only in totals and self times: the cursors cut it (view.h). Percentiles, minimum and maximum are
 * those of whole spans.
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
#include "trace/report/name_map.h"
#include "trace/report/rows.h"
#include "trace/xspace/totals.h"

struct archive_plane;
struct diag;
struct item;
struct view;
struct view_track;

/* --- busy time -------------------------------------------------------------------------------- */

/*
 * Computes the part of a time that spans cover, and the longest gaps between them, also at the ends
 * of that time. The spans come in order of their starts.
 */

#define BUSY_GAPS 8 /* number of longest gaps that are kept */
#define BUSY_NO_NAME UINT32_MAX

struct idle_gap {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t after; /* name of the span that ended last; BUSY_NO_NAME: none had begun */
	uint32_t before; /* name of the span that ends the gap; BUSY_NO_NAME: none did */
};

struct busy {
	int64_t begin_ns; /* the time that may be covered */
	int64_t end_ns;
	int64_t busy_ns;
	/* Longest first; gaps of equal length in order of time. Allocated without slack */
	struct idle_gap *gaps;
	size_t n_gaps;
	int64_t until_ns; /* spans and gaps are counted up to here */
	uint32_t last; /* name of the span that ends at |until_ns| */
};

/* |end_ns| >= |begin_ns| */
void busy_init(struct busy *b, int64_t begin_ns, int64_t end_ns);
void busy_deinit(struct busy *b);
/* 0 or -ENOMEM. */
int busy_add(struct busy *b, int64_t start_ns, int64_t end_ns, uint32_t name);
/* Call it once after the last busy_add(). 0 or -ENOMEM. */
int busy_finish(struct busy *b);
int64_t gap_get_length(const struct idle_gap *gap); /* ns */
/* Returns the covered share, 0 to 1. */
double busy_get_share(const struct busy *b);

/* --- counters --------------------------------------------------------------------------------- */

#define COUNTER_SLOTS 16

/*
 * A value holds until the next sample of its counter, and the last one until the end of the time.
 * The sample of a rate is at the beginning of the interval that it was measured over
 * (daemon/pipeline/assembly/usage_lines.c), so that its mean multiplied by the time is the total.
 */
struct gauge {
	uint32_t name;
	/* Number of samples that are finite; if it is 0, the members below have no meaning */
	uint64_t n;
	double min;
	double max;
	double mean; /* weighted by time; unweighted if no sample holds for any time */
	double last;
	double slots[COUNTER_SLOTS]; /* the mean of each sixteenth of the time, weighted by time */
	double ns_of_slot[COUNTER_SLOTS]; /* part of each sixteenth with a known value */
	double known_ns; /* sum of these parts */
	int64_t last_ns; /* time of the sample |last| */
	/*
	 * Track of |last|: several tracks may have a counter of the name, each with values of its
	 * own
	 */
	uint64_t track;
};

/* Gauges, in order of first use. */
struct gauges {
	int64_t begin_ns; /* the time that is summed up */
	int64_t end_ns;
	struct gauge *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

void gauges_init(struct gauges *counters, int64_t begin_ns, int64_t end_ns);
void gauges_deinit(struct gauges *counters);
/* Adds a sample; those of one |track| must come in order of time. 0 or -ENOMEM. */
int gauges_add(struct gauges *counters, const struct item *item, uint64_t track);
/*
 * Ends the adding, and drops the counters whose names are not wanted (NULL: all are), or that have
 * no finite sample.
 */
void gauges_finish(struct gauges *counters, const uint8_t *wanted);

/* --- the digest ------------------------------------------------------------------------------- */

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
 * to each other: spans of one track do not nest in those of another. |busy| of the first track
 * covers all of them.
 */
struct digest_track {
	const struct view_track *track;
	uint64_t n_of_kind[DIGEST_KINDS];
	struct rows rows; /* row.durations were moved to the lists of the whole view */
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

/* Adds the steps of all planes to LIST_STEPS, moving durations. 0 or -ENOMEM. */
int digest_gather_steps(struct digest *g);
/* Sorts the lists of spans and kernels, also those of each track. */
void digest_sort(struct digest *g, enum row_key key);

/*
 * Returns the number of tracks that follow |track| and that other servers recorded of the same
 * thread; 0 if |track| itself is such a track.
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
 * as it is in the digest's time and its plane is complete. Servers other than proftap's leave out
 * spans that were open when a recording began or ended; the window of their threads is from the
 * first event to the last.
 */
struct digest_window digest_find_window(const struct digest *g, const struct view_track *track);
/* True if a thread with spans was recorded by a server other than proftap's. */
bool digest_has_unknown_ends(const struct digest *g);
/*
 * Returns the window of a program or device without any spans; it is empty for programs that
 * servers other than proftap's recorded, since nothing is known.
 */
struct digest_window digest_find_process_window(const struct digest *g, size_t process);

/* Returns the index of the track's plane. */
size_t digest_find_plane(const struct digest *g, const struct view_track *track);

/* Finds the first start of a recording and the time to the last end; false: no file has them. */
bool digest_get_session(const struct view *view, uint64_t *start_unix_ns, uint64_t *duration_ns);

/* --- members in groups ------------------------------------------------------------------------ */

/*
 * Sorts the members of a list into groups, in the order of the list, so that the members of one
 * group are found without a search of the whole list.
 */

#define GROUPS_END SIZE_MAX

struct groups {
	size_t *first; /* first member of each group */
	size_t *next; /* the member after each member in its group; GROUPS_END: it is the last */
};

/*
 * |get_group| returns the group, below |n_groups|, of member |i|, below |n_members|. 0 or -ENOMEM;
 * call groups_deinit() in any case.
 */
int groups_make(struct groups *groups, size_t n_groups, size_t n_members,
	size_t (*get_group)(const void *context, size_t i), const void *context);
void groups_deinit(struct groups *groups);

/* --- parts of digest_make() ------------------------------------------------------------------- */

/* Reads a track of any kind. 0, or a negative errno with |d|. */
int digest_read_track(struct digest *g, const struct view_track *track, struct diag *d);
/*
 * Finds the time that the tracks of each process cover together. 0, or a negative errno with |d|.
 */
int digest_cover(struct digest *g, struct diag *d);

#endif
