/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes names of a plane from the arena's string ids. Ids and lengths come from the target, so all
 * are checked.
 */
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
	struct memory_budget *keep; /* borrowed: the memory that names may take */
	uint64_t n_nameless; /* uses of names that the program's table had no room for */
	uint64_t n_left_out; /* uses of new texts when there was no room for them */
};

/*
 * The number of bytes of |keep| that all texts together may take. The rest is for data without
 * which whole events would be lost.
 */
uint64_t texts_find_limit(const struct memory_budget *keep);

/* 0 or -ENOMEM. The caller calls texts_deinit() in either case. */
int texts_init(struct texts *texts, struct arena *arena, struct plane *plane);
/* Makes room for the names that the target has added. 0 or -ENOMEM. */
int texts_update(struct texts *texts);
void texts_deinit(struct texts *texts);

/*
 * Returns the index of a text in |names|, the plane's event_names or stat_names, or the index of
 * "…" when there is no room for a new text. NAMES_NONE when memory ran out.
 */
uint32_t texts_intern(struct texts *texts, struct names *names, const char *text, size_t n);

/*
 * Sets the string value of |stat|, which is not needed after its event is encoded. When the
 * texts have used up their room, a new text belongs to the stat alone, and is dropped with the
 * event. 0 or -ENOMEM.
 */
int texts_set_value(struct texts *texts, struct trace_stat *stat, const char *text, size_t n);

/* Return indices into the plane's event_names and stat_names; NAMES_NONE when memory ran out. */
uint32_t texts_get_event_name(struct texts *texts, const struct entry *e);
uint32_t texts_get_stat_name(struct texts *texts, uint32_t id);

#endif
