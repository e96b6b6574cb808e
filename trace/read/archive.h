/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An XSpace file of any origin that is read event by event from where it lies: what is kept in memory is the index, which
 * grows with its names, planes and lines, never with its events. Every byte is hostile: all of the file is walked once when
 * it is opened, and what is broken is refused then, with the place.
 *
 * Threads: none inside. Many cursors may read one archive at the same time, as long as nobody changes it.
 */
#ifndef TRACE_READ_ARCHIVE_H
#define TRACE_READ_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/idmap.h"
#include "trace/model/names.h"
#include "trace/model/space.h" /* enum stat_type */

struct diag;
struct pb_field;

#define ARCHIVE_NO_NAME UINT32_MAX

/* A key and a value; texts lie in the archive, without an end. */
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
	uint64_t n_keyless; /* that were left out: the file does not tell their keys */
};

struct archive_plane;

/* A line that has events with a time; others are not kept. */
struct archive_line {
	const uint8_t *data; /* the XLine's fields */
	size_t n_bytes;
	int64_t id;
	char *name;
	int64_t base_ns; /* added to the offsets of its events */
	uint64_t n_events; /* that have a time */
	int64_t first_ns; /* of all starts; of no meaning without events */
	int64_t last_ns; /* the latest start; likewise */
	int64_t end_ns; /* the latest end */
	bool is_ordered; /* by start ascending, duration descending */
	bool is_async; /* it has events, and all are marked as async spans */
	bool is_counters;
	size_t position; /* among the lines of its plane, in the file */
	uint32_t series; /* of the line's first event: index into the archive's names */
	/* Of a recording in several files (archive_join.h): the values above are this file's, but the first line's
	   n_events, end_ns, is_async and is_counters are of all of them. */
	struct archive_line *next; /* the same line in the next file; NULL: none */
	const struct archive_plane
		*dictionary; /* that its events refer to; NULL: the plane that it is on */
};

/* What an event's metadata says; the same for all events of the name. */
struct archive_event_name {
	uint32_t name; /* index into the archive's names */
	size_t first_stat; /* of the metadata's own, in the plane's name_stats */
	uint32_t n_stats;
};

/* What a stat means here. Hidden ones are no arguments of the event. */
enum archive_role {
	ROLE_ARG,
	ROLE_STEP_NUM, /* step_num: an argument all the same */
	ROLE_UNFINISHED, /* unfinished: likewise */
	ROLE_STARTED_BEFORE, /* started_before: likewise */
	ROLE_CORRELATION, /* correlation_id: likewise */
	ROLE_HIDDEN, /* this one and those that follow are */
	ROLE_ROOT = ROLE_HIDDEN, /* _r */
	ROLE_ASYNC, /* _a */
	ROLE_PRODUCER_TYPE, /* _pt */
	ROLE_PRODUCER, /* _p */
	ROLE_CONSUMER_TYPE, /* _ct */
	ROLE_CONSUMER, /* _c */
};

struct archive_plane {
	int64_t id;
	char *name;
	struct archive_line *lines;
	size_t n_lines;
	size_t n_lines_allocated;
	size_t n_lines_read; /* also those that are not kept */
	struct archive_line
		*behind; /* lines that were joined to others of the plane; NULL: none were */
	struct idmap events; /* metadata id -> index into event_names */
	struct archive_event_name *event_names;
	size_t n_event_names;
	size_t n_event_names_allocated;
	struct names
		unknown; /* names that the file does not tell, made of the ids; added to event_names at the end */
	int64_t *unknown_ids;
	size_t n_unknown_allocated;
	struct archive_stats name_stats; /* of all event_names */
	struct idmap stats; /* metadata id -> index into stat_names */
	struct names stat_names;
	uint8_t *roles; /* enum archive_role of each of them */
	bool is_recorders; /* of a flight recorder's file; set when files are joined */
	struct archive_stats own; /* of the plane itself */
	uint32_t *
		keys; /* of a dictionary: index of each stat_name in the plane that it was joined to; NULL: the same */
};

#define ARCHIVE_MAX_PARTS 256

/* Which part of a recording the file is, as `proftap capture --split` marks it; n_parts 0: it is not marked. */
struct archive_part {
	uint64_t id; /* of the recording: the same in all of its parts */
	uint32_t number; /* 1 to n_parts */
	uint32_t n_parts;
};

struct archive {
	char *path; /* for messages */
	const uint8_t *data;
	size_t n_bytes;
	size_t n_mapped; /* bytes of the file that are mapped; 0: the bytes are the caller's */
	struct names names; /* of the events of all planes */
	struct archive_plane *planes;
	size_t n_planes;
	size_t n_planes_allocated;
	struct names warnings;
	struct names errors;
	struct names hostnames;
	uint64_t n_aggregated; /* events that have no time and are left out */
	uint64_t n_keyless; /* stats of events whose key the file does not tell: likewise */
	bool is_cut; /* it did not come whole: the last plane may be without its last lines, */
	bool is_line_cut; /* and the last line of it without its last events */
	uint64_t n_cut; /* names, also of planes and lines, with a zero byte, where they end */
	struct archive_part part;
	struct archive **joined; /* owned: the other files of the recording */
	size_t n_joined;
};

/*
 * Opens the file at |path|. 0, or a negative errno with |d|; *out belongs to the caller. What others write into the file
 * meanwhile may be read or not; a file that gets shorter ends the process (SIGBUS), as with every mapping.
 */
int archive_open(const char *path, struct archive **out, struct diag *d);
/* Whether |path| has the name of a file that did not come whole: of such a one archive_open() reads what came, with a warning. */
bool archive_is_cut(const char *path);
/* The same of bytes in memory, which stay the caller's and must outlive it. |path| is for messages. */
int archive_read(const uint8_t *data, size_t n_bytes, const char *path, struct archive **out,
	struct diag *d);
struct archive *archive_free(struct archive *s); /* NULL ok; returns NULL */
static inline void archive_freep(struct archive **s)
{
	archive_free(*s);
}

/*
 * What lies before |p| was read: its pages need not stay, so that memory does not grow with the file. They come back when they
 * are read again. *|from|: up to where that was said before; NULL at first.
 */
void archive_pass(const struct archive *s, const uint8_t **from, const uint8_t *p);

/* NULL if there is none. */
const struct archive_plane *archive_find_plane(const struct archive *s, const char *name);
const struct archive_stat *archive_plane_find(const struct archive_plane *plane, const char *key);
/* An integer of either kind; 0 if there is none. |plane| may be NULL. */
int64_t archive_plane_find_int(const struct archive_plane *plane, const char *key);
/* A copy of a text that is not empty, or NULL; the caller frees it. |plane| may be NULL. */
char *archive_plane_copy_text(const struct archive_plane *plane, const char *key);

#endif
