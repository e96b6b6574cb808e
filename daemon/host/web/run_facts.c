/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of runs; see run_facts.h. */
#include "daemon/host/web/run_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/clock.h"
#include "trace/json.h"

/* The limit of texts in a list; further ones are left out. */
#define MAX_TEXTS 64

struct run_facts {
	struct run_state state;
	json_t *report; /* the members that pick_facts() keeps; NULL: unreadable */
	char error[512];
};

static struct run_facts *free_facts(struct run_facts *f)
{
	if (f)
		json_decref(f->report);
	free(f);
	return NULL;
}

void run_facts_init(struct run_facts_cache *c)
{
	memset(c, 0, sizeof *c);
	pthread_mutex_init(&c->mutex, NULL);
}

void run_facts_deinit(struct run_facts_cache *c)
{
	while (c->n)
		free_facts(c->v[--c->n]);
	pthread_mutex_destroy(&c->mutex);
}

/* The caller of each function up to the next heading has the mutex. */

static struct run_facts *find_facts(const struct run_facts_cache *c, const struct run_state *state)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i]->state.name, state->name) == 0 &&
			c->v[i]->state.written_ns == state->written_ns &&
			c->v[i]->state.n_bytes == state->n_bytes)
			return c->v[i];
	return NULL;
}

/* Drops the facts of an older state of the run, or the oldest of all if there is no room. */
static void make_room_for_facts(struct run_facts_cache *c, const struct run_state *state)
{
	size_t gone = c->n == RUN_FACTS_KEPT ? 0 : c->n;

	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i]->state.name, state->name) == 0)
			gone = i;
	if (gone == c->n)
		return;
	free_facts(c->v[gone]);
	c->n--;
	memmove(&c->v[gone], &c->v[gone + 1], (c->n - gone) * sizeof *c->v);
}

/* --- reading ---------------------------------------------------------------------------------- */

static json_t *pick_facts(const char *report, size_t n)
{
	static const char *const keys[] = {
		"start_unix_ns", "duration_ns", "totals", "warnings", "errors"};
	json_t *all = json_loadb(report, n, 0, NULL);
	json_t *picked = json_is_object(all) ? json_object() : NULL;

	for (size_t i = 0; picked && i < sizeof keys / sizeof *keys; i++)
		json_object_set(picked, keys[i], json_object_get(all, keys[i]));
	json_decref(all);
	return picked;
}

bool run_facts_has(struct run_facts_cache *c, const struct run_state *state)
{
	bool has;

	pthread_mutex_lock(&c->mutex);
	has = find_facts(c, state) != NULL;
	pthread_mutex_unlock(&c->mutex);
	return has;
}

void run_facts_set(struct run_facts_cache *c, const struct run_state *state, const char *report,
	size_t n, const char *error)
{
	struct run_facts *f = calloc(1, sizeof *f);

	if (!f)
		return;
	f->state = *state;
	f->report = report ? pick_facts(report, n) : NULL;
	snprintf(f->error, sizeof f->error, "%s", error ? error : "its report is not readable");
	pthread_mutex_lock(&c->mutex);
	make_room_for_facts(c, state);
	c->v[c->n++] = f;
	pthread_mutex_unlock(&c->mutex);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_number(struct json *j, const char *key, const json_t *value)
{
	if (json_is_integer(value))
		json_int(j, key, json_integer_value(value));
	else
		json_nothing(j, key);
}

static void write_ms(struct json *j, const char *key, const json_t *ns, bool is_whole)
{
	if (!json_is_integer(ns))
		json_nothing(j, key);
	else if (is_whole)
		json_int(j, key, json_integer_value(ns) / NS_PER_MS);
	else
		json_double(j, key, (double)json_integer_value(ns) / (double)NS_PER_MS);
}

static void write_texts(struct json *j, const char *key, const json_t *texts)
{
	if (!json_is_array(texts)) {
		json_nothing(j, key);
		return;
	}
	json_begin_list(j, key);
	for (size_t i = 0; i < json_array_size(texts) && i < MAX_TEXTS; i++)
		json_text(j, NULL, json_string_value(json_array_get(texts, i)));
	json_end_list(j);
}

static int64_t sum_totals(const json_t *totals, const char *const *keys)
{
	int64_t n = 0;

	for (; *keys; keys++)
		n += json_integer_value(json_object_get(totals, *keys));
	return n;
}

static void write_totals(struct json *j, const json_t *totals)
{
	static const char *const events[] = {
		"spans", "async_spans", "instants", "counter_samples", NULL};

	write_number(j, "n_spans", json_object_get(totals, "spans"));
	if (totals)
		json_int(j, "n_events", sum_totals(totals, events));
	else
		json_nothing(j, "n_events");
	write_number(j, "n_dropped", json_object_get(totals, "dropped"));
	write_number(j, "n_steps", json_object_get(totals, "steps"));
}

void run_facts_write(struct run_facts_cache *c, const struct run_state *state, struct json *j)
{
	const struct run_facts *f;
	const json_t *report;

	pthread_mutex_lock(&c->mutex);
	f = find_facts(c, state);
	report = f ? f->report : NULL;
	write_ms(j, "duration_ms", json_object_get(report, "duration_ns"), false);
	write_totals(j, json_object_get(report, "totals"));
	write_ms(j, "start_unix_ms", json_object_get(report, "start_unix_ns"), true);
	write_texts(j, "warnings", json_object_get(report, "warnings"));
	write_texts(j, "errors", json_object_get(report, "errors"));
	json_text(j, "unreadable", f && !report ? f->error : NULL);
	pthread_mutex_unlock(&c->mutex);
}
