/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's string ids as names of a plane. Ids and lengths are the target's: nothing is believed. */
#ifndef DAEMON_TEXTS_H
#define DAEMON_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct entry;
struct memory_budget;
struct names;
struct plane;
struct trace_stat;

struct texts {
	struct arena *arena; /* borrowed */
	struct plane *plane;
	uint32_t *event_name_of; /* string id -> index + 1 of the event name */
	uint32_t *stat_name_of; /* string id -> index + 1 of the stat name */
	uint32_t n_ids;
	struct memory_budget *keep; /* borrowed: what the names may take of memory */
	uint64_t n_nameless; /* uses of names that the program's table had no room for */
	uint64_t n_left_out; /* uses of new texts when there was no room for them */
};

/*
 * How many bytes of |keep| all texts together may take. The rest is for data without which whole
 * events would be lost.
 */
uint64_t texts_find_limit(const struct memory_budget *keep);

/* 0 or -ENOMEM; texts_deinit() in either case. */
int texts_init(struct texts *texts, struct arena *arena, struct plane *plane);
/* The target may have added names. 0 or -ENOMEM. */
int texts_update(struct texts *texts);
void texts_deinit(struct texts *texts);

/*
 * The index of a text in |names|, the plane's event_names or stat_names; when there is no room for a new one, that of
 * "…". NAMES_NONE when memory ran out.
 */
uint32_t texts_intern(struct texts *texts, struct names *names, const char *text, size_t n);

/*
 * Sets the value of |stat|, a string, which nobody looks at once its event is encoded: where texts have taken their room, a
 * new one is the stat's own, and leaves with the event. 0 or -ENOMEM.
 */
int texts_set_value(struct texts *texts, struct trace_stat *stat, const char *text, size_t n);

/* Indices into the plane's event_names and stat_names; NAMES_NONE when memory ran out. */
uint32_t texts_get_event_name(struct texts *texts, const struct entry *e);
uint32_t texts_get_stat_name(struct texts *texts, uint32_t id);

#endif
