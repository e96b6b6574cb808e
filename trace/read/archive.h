/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive is an XSpace file of any origin that is read event by event from its mapping. Only its
 * index is kept in memory, which grows with its names, planes and lines, never with its events. The
 * bytes are untrusted: opening an archive walks over all of the file once, and refuses a broken one
 * with the place.
 *
 * There are no locks inside. Many cursors may read one archive at the same time, as long as nobody
 * changes it.
 */
#ifndef TRACE_READ_ARCHIVE_H
#define TRACE_READ_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/idmap.h"
#include "trace/model/names.h"
#include "trace/model/space.h" /* enum stat_type */

struct archive_event;
struct diag;
struct event_marks;
struct report_length;

#define ARCHIVE_NO_NAME UINT32_MAX

/* A key and a value; texts lie in the archive and are not terminated. */
struct archive_stat {
	uint32_t key; /* index into the plane's stat_names */
	enum stat_type type;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
	} value;
	const char *text; /* STAT_STRING, STAT_BYTES */
	size_t n_bytes;
};

struct archive_stats {
	struct archive_stat *v;
	size_t n;
	size_t n_allocated;
	uint64_t n_keyless; /* stats left out because the file has no name for their keys */
};

struct archive_plane;

/* A line that has events with a time; lines without any are not kept. */
struct archive_line {
	const uint8_t *data; /* the XLine's fields */
	size_t n_bytes;
	int64_t id;
	char *name;
	int64_t base_ns; /* added to the offsets of its events */
	uint64_t n_events; /* events that have a time */
	int64_t first_ns; /* the earliest start */
	int64_t last_ns; /* the latest start */
	int64_t end_ns; /* the latest end */
	bool is_ordered; /* by start ascending, duration descending */
	bool is_async; /* all events are marked as async spans */
	bool is_counters;
	size_t position; /* index among the lines of its plane in the file */
	uint32_t series; /* name of the line's first event: index into the archive's names */
	/*
	 * If a recording is in several files (archive_join.h), the values above are those of this
	 * file; but n_events, first_ns, end_ns, is_async and is_counters of the first line are
	 * those of all files.
	 */
	struct archive_line *next; /* the same line in the next file; NULL: none */
	/* Has the names of its events; NULL: its own plane */
	const struct archive_plane *dictionary;
};

/* The metadata that all events of a name share. */
struct archive_event_name {
	uint32_t name; /* index into the archive's names */
	size_t first_stat; /* the metadata's first stat: index into the plane's name_stats */
	uint32_t n_stats;
};

/* The meaning of a stat. Stats with hidden roles are not arguments of the event; all others are. */
enum archive_role {
	ROLE_ARG,
	ROLE_STEP_NUM, /* step_num */
	ROLE_UNFINISHED, /* unfinished */
	ROLE_STARTED_BEFORE, /* started_before */
	ROLE_CORRELATION, /* correlation_id */
	ROLE_HIDDEN, /* this role and all that follow are hidden */
	ROLE_ROOT = ROLE_HIDDEN, /* _r */
	ROLE_ASYNC, /* _a */
	ROLE_PRODUCER_TYPE, /* _pt */
	ROLE_PRODUCER, /* _p */
	ROLE_CONSUMER_TYPE, /* _ct */
	ROLE_CONSUMER, /* _c */
};

enum archive_plane_kind {
	PLANE_OF_EVENTS,
	PLANE_OF_SAMPLES, /* CPU samples and waits; docs/internals/samples.md */
	PLANE_OF_STATES, /* states of threads */
};

struct archive_plane {
	int64_t id;
	char *name;
	enum archive_plane_kind kind;
	struct archive_line *lines;
	size_t n_lines;
	size_t n_lines_allocated;
	size_t n_lines_read; /* lines in the file, also those that are not kept */
	struct archive_line *behind; /* lines that were joined to others of the plane; NULL: none */
	struct idmap events; /* metadata id -> index into event_names */
	struct archive_event_name *event_names;
	size_t n_event_names;
	size_t n_event_names_allocated;
	/* Names made of ids that have no name in the file; added to event_names at the end */
	struct names unknown;
	int64_t *unknown_ids;
	size_t n_unknown_allocated;
	struct archive_stats name_stats; /* stats of the metadata of all event_names */
	struct idmap stats; /* metadata id -> index into stat_names */
	struct names stat_names;
	uint8_t *roles; /* enum archive_role of each stat_name */
	bool is_recorders; /* the file is a flight recorder's; set when files are joined */
	struct archive_stats own; /* stats of the plane itself */
	/* Maps stat_names of a dictionary to those of the plane that it was joined to; or NULL */
	uint32_t *keys;
};

#define ARCHIVE_MAX_PARTS 256

/*
 * The mark that `proftap capture --split` gives a part of a recording; n_parts is 0 if the file has
 * none.
 */
struct archive_part {
	uint64_t id; /* the same in all parts of a recording */
	uint32_t number; /* 1 to n_parts */
	uint32_t n_parts;
};

struct archive {
	char *path; /* for messages; NULL: they name none */
	const uint8_t *data;
	size_t n_bytes;
	size_t n_mapped; /* bytes of the file that are mapped; 0: the bytes are the caller's */
	struct names names; /* names of the events of all planes */
	struct archive_plane *planes;
	size_t n_planes;
	size_t n_planes_allocated;
	struct names warnings;
	struct names errors;
	struct names hostnames;
	uint64_t n_aggregated; /* events that have no time and are left out */
	/* Stats of events left out because the file has no name for their keys */
	uint64_t n_keyless;
	bool is_cut; /* the end of the file is missing: the last plane may lack its last lines */
	bool is_line_cut; /* the last line of the last plane lacks its last events */
	uint64_t n_cut; /* names that were cut at a zero byte, also of planes and lines */
	struct archive_part part;
	struct archive **joined; /* owned: the other files of the recording */
	size_t n_joined;
};

/*
 * Opens the file at |path|. 0, or a negative errno with |d|; the caller owns *out. Bytes that
 * others write into the file meanwhile may be read or not; a file that gets shorter ends the
 * process (SIGBUS), as with every mapping.
 */
int archive_open(const char *path, struct archive **out, struct diag *d);
/*
 * True if |path| is the name of a file of which only a part arrived (*.broken): archive_open()
 * reads this part, and adds a warning.
 */
bool archive_is_cut(const char *path);
/*
 * Opens an archive in memory; the bytes stay the caller's and must outlive it. |path| is for
 * messages.
 */
int archive_read(const uint8_t *data, size_t n_bytes, const char *path, struct archive **out,
	struct diag *d);
struct archive *archive_free(struct archive *s); /* NULL ok; returns NULL */

/*
 * Frees the pages before |p|, which were read, so that memory does not grow with the file. They
 * come back when they are read again. *|from| is the place up to which they were freed before; NULL
 * at first.
 */
void archive_pass(const struct archive *s, const uint8_t **from, const uint8_t *p);

/* Both return NULL if there is none. */
const struct archive_plane *archive_find_plane(const struct archive *s, const char *name);
const struct archive_stat *archive_plane_find(const struct archive_plane *plane, const char *key);
/* Finds an integer stat, signed or not; 0 if there is none. |plane| may be NULL. */
int64_t archive_plane_find_int(const struct archive_plane *plane, const char *key);
/*
 * Copies a text that is not empty; NULL if there is none. The caller frees it. |plane| may be NULL.
 */
char *archive_plane_copy_text(const struct archive_plane *plane, const char *key);

bool archive_is_ours(const struct archive *s); /* proftap recorded it */
uint64_t archive_count_dropped(const struct archive *s); /* sum of stats dropped_traces */
/* Sets all but last_ns. */
void archive_read_length(const struct archive *s, struct report_length *length);

/* --- files of other formats ------------------------------------------------------------------- */

/*
 * Recognizes files that are no XSpaces. Other formats are protobuf messages, too, and a reader of
 * XSpaces would skip their fields as unknown: it would show an empty trace, or one with a string
 * table as its host names.
 */

/*
 * Returns a text that names the format of the bytes, and what to do about it; NULL if they may be
 * an XSpace, whole or not.
 */
const char *other_format_find(const uint8_t *data, size_t n_bytes);

/* --- making the index ------------------------------------------------------------------------- */

/*
 * Gets the events of an archive while the index is made, each once. begin_plane() and pass() may be
 * NULL. The arguments are borrowed until the function returns.
 */
struct archive_survey {
	/* Begins a plane; all its names are known, and do not change until the next one begins. */
	void (*begin_plane)(const struct archive_plane *plane, void *context);
	/* Gets an event that has a time; |line| has the line's header, and counts events so far. */
	void (*take_event)(const struct archive_plane *plane, const struct archive_line *line,
		const struct archive_event *event, const struct event_marks *marks, void *context);
	/* Ends a line that has events; its name is not set. */
	void (*end_line)(
		const struct archive_plane *plane, const struct archive_line *line, void *context);
	/*
	 * Called often, with the place up to which the bytes were read. Each line is read twice,
	 * first for its header, so the place goes back once to the line's begin. A result other
	 * than 0 ends the reading.
	 */
	int (*pass)(const uint8_t *p, void *context);
	void *context;
};

/*
 * Reads an archive in memory for its totals: it keeps the stats of planes and the texts of the
 * space, but neither lines nor names of events with their stats, so that it does not grow with
 * lines and events. Files of other formats are not recognized, and errors do not name a path. 0, or
 * a negative errno with |d|, or the result of |pass|. The caller owns *out also on failure: then it
 * has what was read so far, or is NULL if there was no memory for it.
 */
int archive_survey(const uint8_t *data, size_t n_bytes, const struct archive_survey *survey,
	struct archive **out, struct diag *d);

/*
 * Indexes all bytes at archive->data; |survey| may be NULL. 0, or a negative errno with |d|, or the
 * result of survey->pass().
 */
int archive_index(struct archive *archive, const struct archive_survey *survey, struct diag *d);
void archive_plane_deinit(struct archive_plane *plane);

#endif
