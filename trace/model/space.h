/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace model: space > plane > line > event > stat, as in XSpace but in nanoseconds and with
 * compact events. Upstream of it nobody knows an output format; downstream nobody knows a
 * collector.
 *
 * A plane owns the names its events use; an event refers to a name and to its stats by index.
 * Events of one line lie in one array, in order of (start ascending, duration descending): that is
 * the order every codec and viewer wants, and what makes encoding fast.
 *
 * Threads: none inside; one owner at a time.
 */
#ifndef TRACE_SPACE_H
#define TRACE_SPACE_H

#include <stddef.h>
#include <stdint.h>

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
	uint8_t is_last;
	uint8_t is_own_text; /* of a STAT_STRING: value.string is a place in the plane's own_texts */
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		uint32_t string;
		uint32_t bytes;
	} value;
};

/* The most stats that the events of a plane may have. */
#define TRACE_MAX_STATS 0x7fffffffu

struct trace_event {
	int64_t start_ns; /* since the start of the capture */
	int64_t duration_ns; /* >= 0; 0 for an instant, a counter sample, or a span below the clock's step */
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
	/* Of a line that was too long: its events lie elsewhere, encoded (xspace_events.h), and |events| is empty. */
	uint64_t n_stored;
	uint64_t stored_bytes;
	const void *store; /* for who knows where; nobody else looks at it */
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
	char *own_texts; /* of stats whose texts no other one has, each terminated */
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
	struct blob *
		parts; /* encoded spaces that belong to this one as they are; nobody looks into them */
	size_t n_parts;
	size_t n_parts_allocated;
};

#define LINE_COUNTERS "_counters_"
#define PLANE_HOST "/host:CPU"
#define PLANE_ENVIRONMENT "Task Environment"
#define PLANE_MACHINE "/host:CPU machine" /* counters of the machine, from its host daemon */
/* Marks a file as a part of a capture that was split: it has no lines, but the stats id, number and n_parts. */
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
/* A plane outside of any space, and its way into one, which takes it, also on failure. 0 or -ENOMEM. */
struct plane *plane_new(int64_t id, const char *name); /* NULL when memory ran out */
struct plane *plane_free(struct plane *plane); /* NULL ok; returns NULL */
int space_take_plane(struct space *space, struct plane *plane);
/* Always consumes |data| (malloc'ed), |n| bytes of an encoded space. 0 or -ENOMEM. */
int space_take_part(struct space *space, uint8_t *data, size_t n);
/* Valid until the next plane_add_line() on the same plane. */
struct line *plane_add_line(
	struct plane *plane, int64_t id, const char *name, size_t n_events_hint);

/* 1 when no plane has an event, and there are no parts; what is known about the machine does not count. */
int space_is_empty(const struct space *space);

/* Each text is kept once. printf-like; 0 or -ENOMEM. */
int space_add_warning(struct space *space, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Wherever they lie. */
static inline uint64_t line_count_events(const struct line *line)
{
	return line->n_events + line->n_stored;
}

/* The order of a line: start ascending, duration descending. */
static inline int event_comes_before(const struct trace_event *a, const struct trace_event *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->duration_ns > b->duration_ns;
}

/* Appends; 0 or -ENOMEM. The caller keeps the order (see above) or calls line_sort(). */
int line_add_event(struct line *line, const struct trace_event *event);
/* Makes the order (start ascending, duration descending); stable; cheap when already in order. */
void line_sort(struct line *line);

/*
 * Appends |n| stats as one event's list (sets is_last) and returns what goes into event.stats: the
 * index of the first + 1. 0 when n is 0 or memory ran out.
 */
uint32_t plane_add_stats(struct plane *plane, const struct trace_stat *stats, size_t n);

/*
 * The first stat of the event, or NULL; walk with stat_next(), which returns NULL after the last.
 */
const struct trace_stat *plane_get_stats(
	const struct plane *plane, const struct trace_event *event);
const struct trace_stat *stat_next(const struct trace_stat *stat);
/* The event's stat with this name (index into stat_names), or NULL. */
const struct trace_stat *plane_find_stat(
	const struct plane *plane, const struct trace_event *event, uint32_t name);

/* A text for a stat's value.string with is_own_text: it ends at a NUL inside. NAMES_NONE when memory ran out. */
uint32_t plane_add_own_text(struct plane *plane, const char *text, size_t n);

/* Plane stats, one of a name; 0 or -ENOMEM. Bytes and text are copied. */
int plane_set_int(struct plane *plane, const char *name, int64_t value);
int plane_set_uint(struct plane *plane, const char *name, uint64_t value);
int plane_set_string(struct plane *plane, const char *name, const char *value);
int plane_set_bytes(struct plane *plane, const char *name, const void *data, size_t n);
/*
 * The steps that these are made of, for decoders: a copy of |data| whose index goes into
 * value.bytes (NAMES_NONE when memory ran out), and one more plane stat, whatever its name (0 or
 * -ENOMEM).
 */
uint32_t plane_add_blob(struct plane *plane, const void *data, size_t n);
int plane_add_own_stat(struct plane *plane, const struct trace_stat *stat);
const struct trace_stat *plane_find_own_stat(const struct plane *plane, const char *name);
/* An integer stat of the plane itself, signed or not; 0 if there is none. |plane| may be NULL. */
int64_t plane_find_int(const struct plane *plane, const char *name);
/* A text of the plane itself that is not empty, or NULL. Lives as long as |plane|, which may be NULL. */
const char *plane_find_text(const struct plane *plane, const char *name);

#endif
