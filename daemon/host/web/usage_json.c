/* SPDX-License-Identifier: Apache-2.0 */
/* The usage of the machine as JSON; see usage_json.h. */
#include "daemon/host/web/usage_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "trace/json.h"

#define KEY_BYTES (2 * SUBJECT_NAME_BYTES + 64)

static const char *const group_names[] = {
	"cpu", "core", "machine", "memory", "pressure", "disk", "network", "gpu", "npu", "process"};

struct usage_writing {
	struct json *j;
	const struct usage_json_choice *choice;
	uint64_t first; /* the first sample, or the only one of an event */
	int64_t since;
	int64_t *described; /* set for an event only; see usage_json_write_sample() */
	int64_t unix_offset_ns;
};

/* --- the choice of columns -------------------------------------------------------------------- */

static bool is_group(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof group_names / sizeof *group_names; i++)
		if (strlen(group_names[i]) == n && strncmp(group_names[i], word, n) == 0)
			return true;
	return false;
}

int usage_json_set_groups(struct usage_json_choice *c, const char *text, struct diag *d)
{
	c->groups[0] = '\0';
	if (!text)
		return 0;
	for (const char *word = text; *word; word += strspn(word, ",")) {
		size_t n = strcspn(word, ",");

		if (!is_group(word, n))
			return diag_set(d, -EINVAL,
				"groups: \"%.*s\": no such group; there are cpu, core, machine, memory, "
				"pressure, disk, network, gpu, npu and process",
				n < 32 ? (int)n : 32, word);
		word += n;
	}
	if (strlen(text) >= sizeof c->groups)
		return diag_set(d, -EINVAL, "groups: too long: name each group once");
	strcpy(c->groups, text);
	return 0;
}

static bool is_in_list(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *word = list; *word; word += strspn(word, ",")) {
		if (strcspn(word, ",") == n && strncmp(word, name, n) == 0)
			return true;
		word += strcspn(word, ",");
	}
	return false;
}

static bool is_chosen(const struct usage_json_choice *c, const char *group)
{
	if (c->groups[0])
		return is_in_list(c->groups, group);
	return strcmp(group, "core") != 0 && strcmp(group, machine_process_group.name) != 0;
}

static bool is_wanted(const struct usage_json_choice *c, const struct subject *s)
{
	if (s->group != &machine_process_group)
		return is_chosen(c, s->group->name);
	return caller_may_ask(&c->caller, s->uid) &&
	       (is_chosen(c, s->group->name) || (c->pid && s->pid == c->pid));
}

/* Returns true for a subject of the choice that was there at the sample |n| or later. */
static bool is_there(const struct usage_writing *w, const struct subject *s, uint64_t n)
{
	return s->n_rows && s->last >= n && is_wanted(w->choice, s);
}

/* --- columns ---------------------------------------------------------------------------------- */

static void format_key(const struct subject *s, unsigned row, char key[static KEY_BYTES])
{
	if (s->group == &machine_process_group)
		snprintf(key, KEY_BYTES, "process/%" PRIu64 "/%s", s->id, s->group->rows[row].name);
	else
		snprintf(key, KEY_BYTES, "%s/%s/%s", s->group->name, s->name,
			s->group->rows[row].name);
}

static const char *name_unit(enum metric_unit unit)
{
	const char *text = unit == METRIC_CELSIUS ? "C" : metric_unit_text(unit);

	return text + strspn(text, " ");
}

static void describe_column(struct json *j, const struct subject *s, unsigned row)
{
	bool is_process = s->group == &machine_process_group;
	char key[KEY_BYTES];

	format_key(s, row, key);
	json_begin_object(j, NULL);
	json_text(j, "key", key);
	json_text(j, "group", s->group->name);
	json_text(j, "name", s->name);
	json_text(j, "metric", s->group->rows[row].name);
	json_text(j, "unit", name_unit(s->group->rows[row].unit));
	json_text(j, "detail", s->detail);
	json_uint(j, "id", is_process ? s->id : 0);
	if (is_process)
		json_int(j, "pid", s->pid);
	else
		json_nothing(j, "pid");
	json_end_object(j);
}

/* Describes the columns of subjects that came at the sample |came| or later. */
static void describe_columns(struct usage_writing *w, const struct history *h, uint64_t came)
{
	json_begin_list(w->j, "columns");
	for (size_t i = 0; i < h->n_subjects; i++)
		for (unsigned row = 0; row < h->v[i]->n_rows; row++)
			if (is_there(w, h->v[i], w->first) && h->v[i]->first >= came)
				describe_column(w->j, h->v[i], row);
	json_end_list(w->j);
}

/* --- values ----------------------------------------------------------------------------------- */

static int64_t find_unix_ms(const struct usage_writing *w, const struct history *h, uint64_t n)
{
	return (history_time_ns(h, n) + w->unix_offset_ns) / NS_PER_MS;
}

static void write_column(
	struct usage_writing *w, const struct history *h, const struct subject *s, unsigned row)
{
	json_begin_list(w->j, NULL);
	for (uint64_t n = w->first; n < h->n; n++)
		json_double(w->j, NULL, subject_get(s, row, n));
	json_end_list(w->j);
}

static void write_columns(struct usage_writing *w, const struct history *h)
{
	json_begin_list(w->j, "values");
	for (size_t i = 0; i < h->n_subjects; i++)
		for (unsigned row = 0; row < h->v[i]->n_rows; row++)
			if (is_there(w, h->v[i], w->first))
				write_column(w, h, h->v[i], row);
	json_end_list(w->j);
}

static uint64_t find_first(const struct usage_writing *w, const struct history *h)
{
	uint64_t first = history_first(h);

	if (w->since >= 0 && (uint64_t)w->since + 1 > first)
		first = (uint64_t)w->since + 1;
	return first < h->n ? first : h->n;
}

/* The last value of the row called |name| of the program |s|. */
static double get_last(const struct history *h, const struct subject *s, const char *name)
{
	for (unsigned row = 0; row < s->n_rows; row++)
		if (strcmp(s->group->rows[row].name, name) == 0)
			return subject_get(s, row, h->n - 1);
	return NAN;
}

/*
 * Writes the current values of each live program. The page needs only these, not all columns of
 * every program.
 */
static void write_programs(struct usage_writing *w, const struct history *h)
{
	const struct usage_json_choice *c = w->choice;

	if (!h->n || (c->groups[0] && !is_in_list(c->groups, machine_process_group.name)))
		return;
	json_begin_list(w->j, "programs");
	for (size_t i = 0; i < h->n_subjects; i++) {
		const struct subject *s = h->v[i];

		if (s->group != &machine_process_group || !s->n_rows || s->last < h->n - 1 ||
			!caller_may_ask(&c->caller, s->uid))
			continue;
		json_begin_list(w->j, NULL);
		json_uint(w->j, NULL, s->id);
		json_double(w->j, NULL, get_last(h, s, "cpu"));
		json_double(w->j, NULL, get_last(h, s, "rss"));
		json_end_list(w->j);
	}
	json_end_list(w->j);
}

static int write_samples(const struct history *h, void *context)
{
	struct usage_writing *w = context;

	w->first = find_first(w, h);
	json_uint(w->j, "first", w->first);
	json_uint(w->j, "next", h->n);
	json_begin_list(w->j, "at_unix_ms");
	for (uint64_t n = w->first; n < h->n; n++)
		json_int(w->j, NULL, find_unix_ms(w, h, n));
	json_end_list(w->j);
	describe_columns(w, h, 0);
	write_columns(w, h);
	write_programs(w, h);
	return 0;
}

static int find_pid(const struct history *h, void *context)
{
	const struct usage_json_choice *c = context;

	for (size_t i = 0; i < h->n_subjects; i++)
		if (h->v[i]->group == &machine_process_group && h->v[i]->pid == c->pid &&
			caller_may_ask(&c->caller, h->v[i]->uid))
			return 1;
	return 0;
}

bool usage_json_has_pid(const struct usage_json_choice *c, struct machine *m)
{
	return machine_read(m, find_pid, (void *)c);
}

void usage_json_write(
	struct json *j, struct machine *m, const struct usage_json_choice *choice, int64_t since)
{
	struct usage_writing w = {.j = j,
		.choice = choice,
		.since = since,
		.unix_offset_ns = clock_find_unix_offset_ns()};

	json_int(j, "interval_ms", MACHINE_INTERVAL_MS);
	machine_read(m, write_samples, &w);
}

static void write_values(struct usage_writing *w, const struct history *h)
{
	char key[KEY_BYTES];

	json_begin_object(w->j, "values");
	for (size_t i = 0; i < h->n_subjects; i++) {
		const struct subject *s = h->v[i];

		for (unsigned row = 0; row < s->n_rows; row++) {
			if (!is_there(w, s, w->first) || s->first > w->first)
				continue;
			format_key(s, row, key);
			json_double(w->j, key, subject_get(s, row, w->first));
		}
	}
	json_end_object(w->j);
}

static int write_sample(const struct history *h, void *context)
{
	struct usage_writing *w = context;

	if (w->first >= h->n || w->first < history_first(h))
		return 0;
	json_uint(w->j, "n", w->first);
	json_int(w->j, "at_unix_ms", find_unix_ms(w, h, w->first));
	write_values(w, h);
	describe_columns(w, h, (uint64_t)(*w->described + 1));
	if (w->first == h->n - 1)
		write_programs(w, h);
	/* The descriptions include columns that came after this sample. */
	*w->described = (int64_t)h->n - 1;
	return 1;
}

bool usage_json_write_sample(struct json *j, struct machine *m,
	const struct usage_json_choice *choice, uint64_t n, int64_t *described)
{
	struct usage_writing w = {.j = j,
		.choice = choice,
		.first = n,
		.described = described,
		.unix_offset_ns = clock_find_unix_offset_ns()};

	return machine_read(m, write_sample, &w);
}
