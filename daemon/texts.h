/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's string ids as names of a plane. Ids and lengths are the target's: nothing is believed. */
#ifndef DAEMON_TEXTS_H
#define DAEMON_TEXTS_H

#include <stdint.h>

struct arena;
struct entry;
struct plane;

struct texts {
	const char *table; /* the arena's, borrowed */
	struct plane *plane;
	uint32_t *event_name_of; /* string id -> index + 1 of the event name */
	uint32_t *stat_name_of; /* string id -> index + 1 of the stat name */
	uint32_t n_ids;
};

/* 0 or -ENOMEM; texts_deinit() in either case. */
int texts_init(struct texts *texts, struct arena *arena, struct plane *plane);
void texts_deinit(struct texts *texts);

/* Indices into the plane's event_names and stat_names; NAMES_NONE when memory ran out. */
uint32_t texts_get_event_name(struct texts *texts, const struct entry *e);
uint32_t texts_get_stat_name(struct texts *texts, uint32_t id);

#endif
