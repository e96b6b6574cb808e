/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace model: space > plane > line > event > stat, as in XSpace but in nanoseconds and with
 * compact events. It separates the recording side, which knows no output format, from the codecs,
 * which know no collector.
 *
 * A plane owns the names that its events use; an event refers to its name and to its stats by
 * index. The events of one line lie in one array, in order (start ascending, duration descending):
 * every codec and viewer wants this order, and it makes encoding fast.
 *
 * There are no locks inside: a space has one owner at a time.
 */
#ifndef TRACE_SPACE_H
#define TRACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/model/names.h"

enum stat_type {
	STAT_INT64 = 1,
	STAT_UINT64,
	STAT_DOUBLE,
	STAT_STRING, /* value.string: index into the plane's stat_names */
	STAT_BYTES, /* value.bytes: index into the plane's blobs */
};

/* One key and value. An event's stats lie next to each other; the last one has |is_last| set. */
struct trace_stat {
	uint32_t name; /* index into the plane's stat_names */
	uint8_t type; /* enum stat_type */
	bool is_last;
	/* value.string of a STAT_STRING is an offset into the plane's own_texts */
	bool is_own_text;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		uint32_t string;
		uint32_t bytes;
	} value;
};

/* The limit of stats of all events of a plane. */
#define TRACE_MAX_STATS 0x7fffffffu

struct trace_event {
	int64_t start_ns; /* since the start of the capture */
	/* >= 0; 0 for an instant, a counter sample, or a span below the clock's step */
	int64_t duration_ns;
	uint32_t name; /* index into the plane's event_names */
	uint32_t stats : 31; /* index + 1 of its first stat in the plane's stats array; 0: none */
	uint32_t is_span : 1; /* a span, even if its duration is 0 */
};

struct blob {
	uint8_t *data;
	size_t n_bytes;
};

/* A line is a thread, a stream, or (name "_counters_") the samples of one counter. */
struct line {
	int64_t id; /* kernel tid for a thread; unique in its plane */
	char *name;
	struct trace_event *events;
	size_t n_events;
	size_t n_allocated;
	/*
	 * The events of a line that is too long for memory are stored elsewhere, encoded
	 * (xspace_events.h); then |events| is empty.
	 */
	uint64_t n_stored;
	uint64_t stored_bytes;
	const void *store; /* belongs to the code that stored the events; NULL if none are stored */
};

struct plane {
	int64_t id;
	char *name; /* "/host:CPU" */
	struct line *lines;
	size_t n_lines;
	size_t n_lines_allocated;
	struct names event_names;
	struct names stat_names; /* names of stats, and string values */
	struct trace_stat *stats; /* of all events */
	size_t n_stats;
	size_t n_stats_allocated;
	struct trace_stat *plane_stats; /* of the plane itself; is_last is not used */
	size_t n_plane_stats;
	size_t n_plane_stats_allocated;
	struct blob *blobs;
	size_t n_blobs;
	size_t n_blobs_allocated;
	char *own_texts; /* texts that only one stat uses, each terminated */
	size_t n_own_bytes;
	size_t n_own_allocated;
};

struct space {
	struct plane **planes;
	size_t n_planes;
	size_t n_planes_allocated;
	struct names warnings; /* each text once */
	struct names errors;
	struct names hostnames;
	/* Encoded spaces that are appended to this one's encoding as they are */
	struct blob *parts;
	size_t n_parts;
	size_t n_parts_allocated;
};

#define LINE_COUNTERS "_counters_"
#define PLANE_HOST "/host:CPU"
#define PLANE_ENVIRONMENT "Task Environment"
#define PLANE_MACHINE "/host:CPU machine" /* counters of the machine, from its host daemon */
/* Ends the name of a plane with CPU samples, which begins like PLANE_HOST. */
#define PLANE_SAMPLES_SUFFIX " samples"
/* The same for a plane with the states of threads: running, preempted, blocked. */
#define PLANE_STATES_SUFFIX " thread states"
/* Names of the events of such a plane. */
#define STATE_RUNNING "running"
#define STATE_PREEMPTED "preempted"
#define STATE_BLOCKED "blocked"
/* stat of such a plane: the number of waits that were left out, because they were short */
#define PLANE_SHORT_WAITS "ptap_short_waits"
#define PLANE_STACKS \
	"ptap_stacks" /* stat of such a plane: its stacks (trace/xspace/stack_profile.h) */
/*
 * Marks a file as one part of a capture that was split. The plane has no lines, but the stats id,
 * number and n_parts.
 */
#define PLANE_PART "proftap:part"

int space_new(struct space **out); /* 0 or -ENOMEM; caller owns *out */
struct space *space_free(struct space *space); /* NULL ok; returns NULL */
static inline void space_freep(struct space **space)
{
	space_free(*space);
}

/* Borrowed pointers, owned by the parent; NULL when memory ran out. A plane never moves. */
struct plane *space_add_plane(struct space *space, int64_t id, const char *name);
struct plane *space_find_plane(const struct space *space, const char *name); /* may return NULL */
/* A plane outside of any space. */
struct plane *plane_new(int64_t id, const char *name); /* NULL when memory ran out */
struct plane *plane_free(struct plane *plane); /* NULL ok; returns NULL */
/* Takes |plane|, also on failure; 0 or -ENOMEM. */
int space_take_plane(struct space *space, struct plane *plane);
/* Takes |data| (malloc'ed), |n| bytes of an encoded space, also on failure. 0 or -ENOMEM. */
int space_take_part(struct space *space, uint8_t *data, size_t n);
/* The line is valid until the next plane_add_line() on the same plane. */
struct line *plane_add_line(
	struct plane *plane, int64_t id, const char *name, size_t n_events_hint);

/*
 * True when no plane has an event, and there are no parts. Stats of the planes themselves do not
 * count.
 */
bool space_is_empty(const struct space *space);

/* A repeated text is kept once. printf-like; 0 or -ENOMEM. */
int space_add_warning(struct space *space, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True if the events are samples. */
static inline bool line_is_counters(const struct line *line)
{
	return strcmp(line->name, LINE_COUNTERS) == 0;
}

/* Counts the events in memory and the stored ones. */
static inline uint64_t line_count_events(const struct line *line)
{
	return line->n_events + line->n_stored;
}

/* The order of a line: start ascending, duration descending. */
static inline bool event_comes_before(const struct trace_event *a, const struct trace_event *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->duration_ns > b->duration_ns;
}

/* Appends |event|; 0 or -ENOMEM. The caller keeps the order of the line or calls line_sort(). */
int line_add_event(struct line *line, const struct trace_event *event);
/*
 * Sorts the events (start ascending, duration descending); stable, and cheap when they are in order
 * already.
 */
void line_sort(struct line *line);

/*
 * Appends |n| stats as one event's list (sets is_last) and returns the value for event.stats: the
 * index of the first + 1, or 0 when n is 0 or memory ran out.
 */
uint32_t plane_add_stats(struct plane *plane, const struct trace_stat *stats, size_t n);

/* The first stat of the event, or NULL. stat_next() returns NULL after the last. */
const struct trace_stat *plane_get_stats(
	const struct plane *plane, const struct trace_event *event);
const struct trace_stat *stat_next(const struct trace_stat *stat);
/* The event's stat with this name (index into stat_names), or NULL. */
const struct trace_stat *plane_find_stat(
	const struct plane *plane, const struct trace_event *event, uint32_t name);

/*
 * Adds a text that only one stat uses, and returns the value.string of that stat, whose is_own_text
 * is set. A NUL inside ends the text. NAMES_NONE when memory ran out.
 */
uint32_t plane_add_own_text(struct plane *plane, const char *text, size_t n);

/*
 * Sets a stat of the plane itself, replacing one of the same name; 0 or -ENOMEM. Bytes and text are
 * copied.
 */
int plane_set_int(struct plane *plane, const char *name, int64_t value);
int plane_set_uint(struct plane *plane, const char *name, uint64_t value);
int plane_set_string(struct plane *plane, const char *name, const char *value);
int plane_set_bytes(struct plane *plane, const char *name, const void *data, size_t n);
/* Copies |data| and returns its index for a stat's value.bytes; NAMES_NONE when memory ran out. */
uint32_t plane_add_blob(struct plane *plane, const void *data, size_t n);
/* Appends a stat of the plane itself even if there is one of that name; 0 or -ENOMEM. */
int plane_add_own_stat(struct plane *plane, const struct trace_stat *stat);
const struct trace_stat *plane_find_own_stat(const struct plane *plane, const char *name);
/*
 * Returns an integer stat of the plane itself, signed or not; 0 if there is none. |plane| may be
 * NULL.
 */
int64_t plane_find_int(const struct plane *plane, const char *name);
/*
 * Returns a stat of the plane itself that is a text and not empty, or NULL. Borrowed from |plane|,
 * which may be NULL.
 */
const char *plane_find_text(const struct plane *plane, const char *name);

/* --- names of devices ------------------------------------------------------------------------- */

/* The plane "/device:GPU:N" holds the work of device N. */
#define PLANE_DEVICE "/device:GPU:"
/*
 * The plane "/device:CUSTOM:GPU:N" holds everything about device N that is not its own work: waits
 * for it, its memory, and the overhead of tracing. XProf draws this plane, but does not count it as
 * the device's work.
 */
#define PLANE_BESIDE_DEVICE "/device:CUSTOM:GPU:"

/*
 * True if |name| begins like PLANE_HOST and ends with |suffix|. JAX's server adds " [PID]" to the
 * names of planes that it got from the programs that it started.
 */
static inline bool plane_name_has_suffix(const char *name, const char *suffix)
{
	size_t n_suffix = strlen(suffix);
	size_t n = strlen(name);
	size_t n_digits = 0;

	if (n && name[n - 1] == ']') {
		while (n_digits + 1 < n && strchr("0123456789", name[n - 2 - n_digits]))
			n_digits++;
		if (n >= n_digits + 3 && memcmp(name + n - n_digits - 3, " [", 2) == 0)
			n -= n_digits + 3;
	}
	return strncmp(name, PLANE_HOST, strlen(PLANE_HOST)) == 0 && n > n_suffix &&
	       memcmp(name + n - n_suffix, suffix, n_suffix) == 0;
}

/* "/device:" begins the names that XLA and proftap use, "#Chip" those of older TPUs. */
static inline bool plane_name_is_device(const char *name)
{
	return strncmp(name, "/device:", 8) == 0 || strncmp(name, "#Chip", 5) == 0;
}

#endif
