/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view shows one or more archives on one time axis, as rows that a viewer draws. A codec gets a
 * view, walks its tracks, and reads each with a cursor; it sees neither files nor XSpace.
 *
 *	host            an archive, named after the machine that it is from
 *	  process       a program there, or a device, or a group of tracks (grouping.h)
 *	    track       a thread, a device's stream, async spans, or samples of counters
 *	      item      cursor.h
 *
 * A program that both proftap and JAX's profiler server recorded is one process with the tracks of
 * both archives (stock_threads.c). A thread that both recorded is one row of two tracks, proftap's
 * first.
 *
 * There are no locks inside; several cursors may read at the same time.
 */
#ifndef TRACE_READ_VIEW_H
#define TRACE_READ_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"
#include "trace/model/stacks.h"
#include "trace/read/flow_uses.h"
#include "trace/read/selection.h"

struct diag;
struct grouping;
struct archive;
struct archive_line;
struct archive_plane;

struct view_host {
	const struct archive *archive;
	char *name; /* "gpu7"; never empty */
	char *stem; /* the file's name without its ending: "gpu7_9999" */
	int64_t shift_ns; /* added to the archive's times */
	int64_t epoch_ns; /* Unix time of the archive's 0; 0: not known */
	int64_t clock_offset_ns; /* the host's Unix time minus the client's; 0: not measured */
	bool is_ours; /* proftap recorded it */
	int64_t length_ns; /* length of the recording; -1: not known */
	uint64_t n_dropped; /* annotations that the recording lost, by its own count */
	uint32_t *names; /* maps the archive's names to the view's */
	uint32_t unknown; /* the view's name for events without a name */
};

struct view_process {
	uint32_t host;
	int64_t pid; /* > 0, unique on the host; made up unless |is_real| */
	bool is_real;
	bool is_device;
	int32_t device; /* id of the device, unique in the view; -1: none */
	int32_t local_device; /* id of the device on its host; -1: none */
	/*
	 * Pid of the recorded ancestor, for a process that has usage counters only; 0: the process
	 * itself was recorded.
	 */
	int64_t descendant_of;
	char *name; /* "train", "/device:GPU:0" */
};

/*
 * Made-up pids and tids begin here: above all that Linux gives (2^22), and below the limit of some
 * viewers (2^31). Process i gets VIEW_MADE_UP + i, and so
 * does the track whose view_track_get_number() is i.
 */
#define VIEW_MADE_UP (1 << 30)

enum track_kind {
	/* Spans, steps and instants of a thread. Spans nest; in foreign files they may overlap */
	TRACK_THREAD,
	TRACK_STREAM, /* kernels and copies of a device; may overlap */
	TRACK_ASYNC, /* async spans; overlap */
	TRACK_COUNTERS, /* samples of any number of series */
	TRACK_SAMPLES, /* samples of a running or waiting thread; only in view.samples */
	TRACK_STATES, /* spans that tell when a thread ran; only in view.states */
};

struct view_track {
	enum track_kind kind;
	uint32_t host; /* the archive that it is in; its process may be of another host */
	uint32_t process; /* the process that it is drawn under */
	uint32_t origin; /* the process that it belongs to; equal to |process| without a grouping */
	uint32_t row; /* number of the row in the view, if there is a grouping */
	/* A grouping put more tracks on the same row, with the same tid: items may overlap */
	bool is_shared;
	int64_t tid; /* > 0, unique in the process; made up unless |is_real| */
	bool is_real; /* |tid| is that of a thread of the kernel */
	/* Repeats the contents of other tracks, so that sums must leave it out (view_tracks.c) */
	bool is_derived;
	char *name; /* drawn name, such as "loader"; never empty */
	char *origin_name; /* name without a grouping */
	int64_t origin_tid; /* tid without a grouping */
	bool is_origin_real; /* |origin_tid| is that of a thread of the kernel */
	uint64_t n_events; /* before any selection */
	const struct archive_plane *plane;
	const struct archive_line *line;
	/* The plane and the line of the thread's first track, which may be this one. */
	const struct archive_plane *row_plane;
	const struct archive_line *row_line;
};

/* The stacks of one plane with samples. */
struct view_profile {
	const struct archive_plane *plane;
	uint32_t *numbers; /* for each stack of the plane its number in the view */
	size_t n;
};

/* How the times of several archives are aligned. */
enum view_align {
	/* By the Unix times of their starts, corrected by the measured clock offsets */
	VIEW_ALIGN_EPOCH,
	VIEW_ALIGN_START, /* all begin at 0 */
};

struct view_options {
	enum view_align align;
	const int64_t *shifts_ns; /* added to the times of archive i after alignment; NULL: none */
	size_t n_shifts;
	const struct selection *selection; /* borrowed; NULL: everything */
	/* How rows are made (grouping.h); NULL: as they were recorded */
	const struct grouping *grouping;
};

/* Cancels long work: readers of items and codecs call is_wanted() now and then, in any thread. */
struct view_stop {
	bool (*is_wanted)(const void *context); /* NULL: never */
	const void *context; /* borrowed */
};

struct view {
	struct archive **archives; /* owned */
	size_t n_archives;
	struct names names; /* names of events; items refer to them by index */
	struct view_host *hosts; /* one for each archive */
	struct view_process *processes;
	size_t n_processes;
	size_t n_processes_allocated;
	struct view_process *origins; /* programs and devices; |processes| without a grouping */
	size_t n_origins;
	struct view_track *tracks; /* in the order of their processes */
	size_t n_tracks;
	size_t n_tracks_allocated;
	/* A track for each thread that was sampled. |is_derived| is not set */
	struct view_track *samples;
	size_t n_samples;
	size_t n_samples_allocated;
	/* States of threads, a track for each. Their spans are "running", "preempted", "blocked" */
	struct view_track *states;
	size_t n_states;
	size_t n_states_allocated;
	struct stacks stacks; /* the stacks of all samples; items refer to them by number */
	/*
	 * By text of |stacks|: the name of samples in that function, if inlined functions were
	 * added; else NULL, and the samples have names of their own
	 */
	uint32_t *function_names;
	struct view_profile *profiles;
	size_t n_profiles;
	size_t n_profiles_allocated;
	int64_t epoch_ns; /* Unix time of the view's 0; 0: not known */
	int64_t first_ns; /* earliest start of all events, before any selection; 0 without events */
	int64_t end_ns; /* latest end */
	uint64_t n_events;
	struct flow_uses flow_uses;
	const struct selection *selection; /* NULL: everything */
	struct selected selected; /* |selection|, prepared for this view */
	bool is_being_selected; /* |selected| is being prepared: cursors read everything */
	bool clips_spans; /* cursors cut spans to the selection's time, and mark them as cut */
	struct view_stop stop; /* when it is wanted, cursors and codecs return -ECANCELED */
	struct names notes; /* sentences for the user, such as missing start times or cut files */
};

/*
 * Takes |archives|, also on failure; the array itself stays the caller's. 0, or a negative errno
 * with |d|.
 */
int view_open(struct archive **archives, size_t n_archives, const struct view_options *options,
	struct view **out, struct diag *d);
struct view *view_free(struct view *v); /* NULL ok; returns NULL */
/*
 * Adds the frames of inlined functions, which were added to the view's frames, to all stacks of
 * samples. 0 or -ENOMEM.
 */
int view_add_inlined_frames(struct view *v);
/* Adds a note. 0 or -ENOMEM. */
int view_note(struct view *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void view_freep(struct view **v)
{
	view_free(*v);
}

static inline bool view_is_stopped(const struct view *v)
{
	return v->stop.is_wanted && v->stop.is_wanted(v->stop.context);
}

static inline const struct view_process *view_get_process(
	const struct view *v, const struct view_track *track)
{
	return &v->processes[track->process];
}

/* True if a grouping made the processes and rows, with their names, pids and tids. */
static inline bool view_is_grouped(const struct view *v)
{
	return v->processes != v->origins;
}

/*
 * True if rows need their host's name to be told apart. Rows of a grouping have the names that the
 * user requested.
 */
static inline bool view_names_hosts(const struct view *v)
{
	return v->n_archives > 1 && !view_is_grouped(v);
}

/* True if another server recorded the thread too, and its track is the one before this one. */
static inline bool view_track_is_second(const struct view_track *track)
{
	return track->line != track->row_line;
}

/*
 * Returns the number of a track: those of view->samples are counted behind those of view->tracks,
 * and those of view->states last.
 */
static inline size_t view_track_get_number(const struct view *v, const struct view_track *track)
{
	if (track->kind == TRACK_STATES)
		return v->n_tracks + v->n_samples + (size_t)(track - v->states);
	return track->kind == TRACK_SAMPLES ? v->n_tracks + (size_t)(track - v->samples)
					    : (size_t)(track - v->tracks);
}

/* Returns the first track of the thread. */
static inline const struct view_track *view_track_get_first(const struct view_track *track)
{
	while (view_track_is_second(track))
		track--;
	return track;
}

/* True if several servers recorded the thread. */
static inline bool view_track_has_sources(const struct view *v, const struct view_track *track)
{
	const struct view_track *next = track + 1;

	if (track->kind == TRACK_SAMPLES)
		return false;
	return view_track_is_second(track) ||
	       (next < v->tracks + v->n_tracks && view_track_is_second(next));
}

/* Returns the name of the file that the track is from. */
static inline const char *view_track_get_source(
	const struct view *v, const struct view_track *track)
{
	return v->hosts[track->host].stem;
}

/* Returns the program or device that the track belongs to, whatever process it is drawn under. */
static inline const struct view_process *view_get_origin(
	const struct view *v, const struct view_track *track)
{
	return &v->origins[track->origin];
}

/*
 * Returns the tid for reports and tables. A thread without a tid of the kernel, as in traces of
 * JAX's server, has the id that its server gave it, not the one that was made up for viewers.
 */
int64_t view_track_get_tid(const struct view_track *t);

#endif
