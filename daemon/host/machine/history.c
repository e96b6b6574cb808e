/* SPDX-License-Identifier: Apache-2.0 */
/* The history of samples; see history.h. */
#include "daemon/host/machine/history.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/printable.h"

#define SHORT_NS (NS_PER_S / 4)

void history_deinit(struct history *h)
{
	while (h->n_subjects)
		free(h->v[--h->n_subjects]);
	h->n_columns = 0;
}

static void history_drop(struct history *h, size_t i)
{
	h->n_columns -= h->v[i]->n_rows;
	free(h->v[i]);
	h->n_subjects--;
	memmove(&h->v[i], &h->v[i + 1], (h->n_subjects - i) * sizeof *h->v);
	if (h->cursor > i)
		h->cursor--;
}

void history_begin(struct history *h, int64_t at_ns)
{
	h->at_ns[h->n++ % HISTORY_SLOTS] = at_ns;
	h->cursor = 0;
	for (size_t i = h->n_subjects; i-- > 0;)
		if (h->n - h->v[i]->last > HISTORY_SAMPLES)
			history_drop(h, i);
}

void history_begin_peek(struct history *h, int64_t at_ns)
{
	bool is_short = h->n && at_ns - history_time_ns(h, h->n - 1) < SHORT_NS;

	h->peek = is_short ? PEEK_SHORT : PEEK;
	h->at_ns[h->n++ % HISTORY_SLOTS] = at_ns;
	h->cursor = 0;
}

void history_end_peek(struct history *h)
{
	for (size_t i = 0; i < h->n_subjects; i++)
		subject_end_peek(h->v[i]);
	h->peek = PEEK_NONE;
	h->n--;
}

static bool subject_is(
	const struct subject *s, const struct metric_group *group, uint64_t id, const char *name)
{
	return s->group == group && s->id == id && (id || strcmp(s->name, name) == 0);
}

/* Searches from the subject that was found last, once round. */
static struct subject *history_find(
	struct history *h, const struct metric_group *group, uint64_t id, const char *name)
{
	for (size_t i = 0; i < h->n_subjects; i++) {
		size_t at = (h->cursor + i) % h->n_subjects;

		if (!subject_is(h->v[at], group, id, name))
			continue;
		h->cursor = at + 1;
		return h->v[at];
	}
	return NULL;
}

static bool history_has_room(const struct history *h, unsigned n_rows)
{
	return h->n_subjects < HISTORY_MAX_SUBJECTS && h->n_columns + n_rows <= HISTORY_MAX_COLUMNS;
}

/* Removes the subject that has been gone for the longest time. Returns false if none is gone. */
static bool history_make_room(struct history *h)
{
	size_t oldest = h->n_subjects;

	for (size_t i = 0; i < h->n_subjects; i++)
		/* Subjects of the previous sample may not have been read in this one yet. */
		if (h->v[i]->last + 2 < h->n &&
			(oldest == h->n_subjects || h->v[i]->last < h->v[oldest]->last))
			oldest = i;
	if (oldest == h->n_subjects)
		return false;
	history_drop(h, oldest);
	return true;
}

static struct subject *history_add(
	struct history *h, const struct metric_group *group, uint64_t id, const char *name)
{
	bool is_wanted = !group->is_wanted || group->is_wanted(h->root, name);
	unsigned n_rows = is_wanted ? group->n_rows : 0;
	struct subject *s;

	while (!history_has_room(h, n_rows))
		if (!history_make_room(h))
			return NULL;
	s = subject_new(group, id, name, n_rows);
	if (!s)
		return NULL;
	s->first = h->n - 1;
	subject_begin(s, s->first);
	h->n_columns += n_rows;
	h->v[h->n_subjects++] = s;
	h->cursor = h->n_subjects;
	return s;
}

static struct subject *history_touch_in_peek(const struct history *h, struct subject *s)
{
	if (!s || !s->n_rows || s->last + 2 < h->n)
		return NULL;
	if (s->last != h->n - 1)
		subject_begin_peek(s, h->peek);
	return s;
}

struct subject *history_touch(
	struct history *h, const struct metric_group *group, uint64_t id, const char *name)
{
	char clean[SUBJECT_NAME_BYTES] = "";
	struct subject *s;

	strncpy(clean, name, sizeof clean - 1);
	printable_clean(clean);
	s = history_find(h, group, id, clean);
	if (h->peek != PEEK_NONE)
		return history_touch_in_peek(h, s);
	if (!s)
		s = history_add(h, group, id, clean);
	else if (s->last != h->n - 1)
		subject_begin(s, h->n - 1);
	return s && s->n_rows ? s : NULL;
}

int64_t history_time_ns(const struct history *h, uint64_t n)
{
	return h->at_ns[n % HISTORY_SLOTS];
}

uint64_t history_first(const struct history *h)
{
	return h->n > HISTORY_SAMPLES ? h->n - HISTORY_SAMPLES : 0;
}
