/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is converted: one or more archives on one time, as rows that a viewer draws. A codec gets a view, walks its tracks,
 * and reads each with a cursor; it sees neither files nor XSpace.
 *
 *	host            an archive: where it was recorded
 *	  process       a program there, or a device, or what a grouping makes of them (grouping.h)
 *	    track       a thread, a device's stream, async spans, or samples of counters
 *	      item      cursor.h
 *
 * A program that JAX's profiler server and ours recorded is one process if both saw one of its threads (ptap_stock_thread_ids says
 * so): ours, with the tracks of both archives. A thread that both saw is one row of two tracks, ours first.
 *
 * Threads: none inside; several cursors may read at the same time.
 */
#ifndef TRACE_READ_VIEW_H
#define TRACE_READ_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/names.h"
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
	char *stem; /* of the file's name: "gpu7_9999" */
	/* Added to the archive's times. */
	int64_t shift_ns;
	int64_t epoch_ns; /* Unix time of the archive's 0; 0: not known */
	int64_t clock_offset_ns; /* its Unix time minus that of who asked, as measured; 0: none was */
	bool is_ours; /* proftap recorded it */
	int64_t length_ns; /* of the recording; -1: not known */
	uint64_t n_dropped; /* annotations that the recording lost, as it says */
	uint32_t *names; /* the archive's names as indices into the view's */
	uint32_t unknown; /* index of the name of events that have none */
};

struct view_process {
	uint32_t host;
	int64_t pid; /* > 0, different from any other of the host's; a made-up one if is_real is 0 */
	bool is_real;
	bool is_device;
	int32_t device; /* id of a device, different from any other of the view's; -1: none */
	int32_t local_device; /* on its host; -1: none */
	int64_t descendant_of; /* pid of the program whose descendant it is, of which there is nothing but usage counters; 0: it was recorded */
	char *name; /* "train", "/device:GPU:0" */
};

/*
 * Made-up pids and tids begin here: above all that Linux gives (2^22), and below what some viewers cut off (2^31). That of
 * process or track i is i more.
 */
#define VIEW_MADE_UP (1 << 30)

enum track_kind {
	TRACK_THREAD, /* spans, steps and instants of a thread: they nest, but in foreign files may not */
	TRACK_STREAM, /* kernels and copies of a device: may overlap */
	TRACK_ASYNC, /* spans that begin and end anywhere: overlap */
	TRACK_COUNTERS, /* samples, of any number of series */
};

struct view_track {
	enum track_kind kind;
	uint32_t host; /* the archive that it is in; its process may be another's */
	uint32_t process; /* that it is drawn under */
	uint32_t origin; /* whose it is; the same without a grouping */
	uint32_t row; /* with a grouping: number of the row in the view */
	bool is_shared; /* another track is drawn as the same row, with the same tid: their items overlap */
	int64_t tid; /* > 0, different from that of any other track of the process; made up if is_real is 0 */
	bool is_real; /* a thread as the kernel knows it */
	bool is_derived; /* it says again what others say (derived.h): not to be added up with these */
	char *name; /* that it is drawn with: "loader"; never empty */
	char *origin_name; /* that it has, however it is drawn */
	int64_t origin_tid;
	bool is_origin_real; /* that is a thread as the kernel knows it */
	uint64_t n_events; /* before any selection */
	const struct archive_plane *plane;
	const struct archive_line *line;
	/* Those of the thread's first track: its own, or where another server saw the thread, too, that one's. */
	const struct archive_plane *row_plane;
	const struct archive_line *row_line;
};

/* How the times of several archives are laid over each other. */
enum view_align {
	VIEW_ALIGN_EPOCH, /* by the Unix time that each says, its clock's measured offset taken off */
	VIEW_ALIGN_START, /* all begin at 0 */
};

struct view_options {
	enum view_align align;
	/* Added to the times of archive i, besides; NULL: none. */
	const int64_t *shifts_ns;
	size_t n_shifts;
	const struct selection *selection; /* borrowed; NULL: everything */
	const struct grouping
		*grouping; /* how rows are made (grouping.h); NULL: as they were recorded */
};

/* Of who has waited long enough: asked now and then by who reads items or makes something of them, in any thread. */
struct view_stop {
	bool (*is_wanted)(const void *context); /* NULL: never */
	const void *context; /* borrowed */
};

struct view {
	struct archive **archives; /* owned */
	size_t n_archives;
	struct names names; /* of events; items refer to it by index */
	struct view_host *hosts; /* one an archive */
	struct view_process *processes;
	size_t n_processes;
	size_t n_processes_allocated;
	struct view_process *origins; /* programs and devices; |processes| without a grouping */
	size_t n_origins;
	struct view_track
		*tracks; /* those of one process lie next to each other; processes in their order */
	size_t n_tracks;
	size_t n_tracks_allocated;
	int64_t epoch_ns; /* Unix time of the view's 0; 0: not known */
	int64_t first_ns; /* of all events, before any selection; 0 without events */
	int64_t end_ns;
	uint64_t n_events;
	struct flow_uses flow_uses;
	const struct selection *selection; /* NULL: everything */
	struct selected selected; /* what is known of it beforehand */
	bool is_being_selected; /* that is being found out: cursors read everything */
	bool clips_spans; /* cursors cut spans to the selection's time, and mark these as cut */
	struct view_stop stop; /* when it is wanted, cursors and codecs give up with -ECANCELED */
	struct names
		notes; /* for people: what could not be done as asked (no epoch to align by, …) */
};

/*
 * Takes |archives| (also on failure; the array stays the caller's). 0, or a negative errno with |d|.
 */
int view_open(struct archive **archives, size_t n_archives, const struct view_options *options,
	struct view **out, struct diag *d);
struct view *view_free(struct view *v); /* NULL ok; returns NULL */
/* Adds to the notes. 0 or -ENOMEM. */
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

/* Whether a grouping made the processes and rows: names, pids and tids are its. */
static inline bool view_is_grouped(const struct view *v)
{
	return v->processes != v->origins;
}

/* Whether rows need their host's name to be told apart: a grouping names them as it was asked to. */
static inline bool view_names_hosts(const struct view *v)
{
	return v->n_archives > 1 && !view_is_grouped(v);
}

/* Whether it is what another server saw of a thread whose first track lies before it. */
static inline bool view_track_is_second(const struct view_track *track)
{
	return track->line != track->row_line;
}

/* The first track of the thread. */
static inline const struct view_track *view_track_get_first(const struct view_track *track)
{
	while (view_track_is_second(track))
		track--;
	return track;
}

/* Whether several servers saw the thread. */
static inline bool view_track_has_sources(const struct view *v, const struct view_track *track)
{
	const struct view_track *next = track + 1;

	return view_track_is_second(track) ||
	       (next < v->tracks + v->n_tracks && view_track_is_second(next));
}

/* The name of the file that it is from. */
static inline const char *view_track_get_source(
	const struct view *v, const struct view_track *track)
{
	return v->hosts[track->host].stem;
}

/* The program or device whose it is, however it is drawn. */
static inline const struct view_process *view_get_origin(
	const struct view *v, const struct view_track *track)
{
	return &v->origins[track->origin];
}

/*
 * The tid as reports and tables show it: of a thread that has none of the kernel's, as those of JAX's server, the id that its server
 * gave it, and not the one that was made up for viewers.
 */
int64_t view_track_get_tid(const struct view_track *t);

#endif
