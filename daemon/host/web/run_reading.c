/* SPDX-License-Identifier: Apache-2.0 */
/* The background reading of runs; see run_reading.h. */
#include "daemon/host/web/run_reading.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/web/api.h"
#include "daemon/host/web/runs.h"
#include "daemon/host/web/tool.h"
#include "daemon/host/web/web.h"

/* The facts in a larger report are not read. */
#define MAX_REPORT_BYTES (UINT64_C(256) << 20)

static void reading_start_next(struct run_reading *r);

/* --- the outcome ------------------------------------------------------------------------------ */

static void reading_keep_outcome(struct run_reading *r, const struct tool_outcome *outcome)
{
	struct run_facts_cache *cache = &r->api->runs.facts;
	void *text;

	if (outcome->status) {
		run_facts_set(cache, &r->present, NULL, 0, outcome->diag.text);
		return;
	}
	text = outcome->n_bytes && outcome->n_bytes <= MAX_REPORT_BYTES
		       ? mmap(NULL, outcome->n_bytes, PROT_READ, MAP_PRIVATE, outcome->fd, 0)
		       : MAP_FAILED;
	if (text == MAP_FAILED) {
		run_facts_set(cache, &r->present, NULL, 0, "its report is too large");
		return;
	}
	run_facts_set(cache, &r->present, text, outcome->n_bytes, NULL);
	munmap(text, outcome->n_bytes);
}

static void on_read(void *context, struct tool_outcome *outcome)
{
	struct run_reading *r = context;

	r->tool = NULL;
	reading_keep_outcome(r, outcome);
	if (outcome->fd >= 0)
		close(outcome->fd);
	runs_tell(&r->api->runs, r->present.name);
	reading_start_next(r);
}

/* --- the next run ----------------------------------------------------------------------------- */

static bool reading_take_next(struct run_reading *r)
{
	bool has;

	pthread_mutex_lock(&r->mutex);
	has = r->n_waiting > 0;
	if (has) {
		r->present = r->waiting[0];
		memmove(r->waiting, r->waiting + 1, --r->n_waiting * sizeof *r->waiting);
	}
	pthread_mutex_unlock(&r->mutex);
	return has;
}

static void reading_start_tool(struct run_reading *r)
{
	static const char *const argv[] = {"report", "--json", "--top", "1", ".", NULL};
	_cleanup_free_ char *dir = NULL;
	struct diag d = DIAG_INIT;

	if (asprintf(&dir, "%s/plugins/profile/%s", runs_get_log_dir(&r->api->runs),
		    r->present.name) < 0)
		return;
	r->tool = tool_start(r->api->web->loop, dir, argv, on_read, r, &d);
	if (!r->tool)
		run_facts_set(&r->api->runs.facts, &r->present, NULL, 0, d.text);
}

static void reading_start_next(struct run_reading *r)
{
	while (r->api && !r->tool && reading_take_next(r))
		if (!run_facts_has(&r->api->runs.facts, &r->present))
			reading_start_tool(r);
}

static void on_letter(struct letter *letter)
{
	struct run_reading *r =
		(struct run_reading *)((char *)letter - offsetof(struct run_reading, letter));

	pthread_mutex_lock(&r->mutex);
	r->is_sent = false;
	pthread_mutex_unlock(&r->mutex);
	reading_start_next(r);
}

void run_reading_open(struct run_reading *r, struct api *api)
{
	memset(r, 0, sizeof *r);
	pthread_mutex_init(&r->mutex, NULL);
	r->letter.open = on_letter;
	r->api = api;
}

void run_reading_close(struct run_reading *r)
{
	r->api = NULL;
	if (r->tool)
		tool_abandon(r->tool);
	r->tool = NULL;
}

/* The caller has the mutex. */
static bool reading_is_waiting(const struct run_reading *r, const struct run_state *state)
{
	for (size_t i = 0; i < r->n_waiting; i++)
		if (strcmp(r->waiting[i].name, state->name) == 0)
			return true;
	return false;
}

void run_reading_want(struct run_reading *r, const struct run_state *state)
{
	struct api *api = r->api;
	bool is_new;

	pthread_mutex_lock(&r->mutex);
	is_new = !reading_is_waiting(r, state) && r->n_waiting < RUN_READING_WAITING;
	if (is_new)
		r->waiting[r->n_waiting++] = *state;
	is_new = is_new && !r->is_sent;
	if (is_new)
		r->is_sent = true;
	pthread_mutex_unlock(&r->mutex);
	if (is_new && api)
		post_send(&api->web->post, &r->letter);
}
