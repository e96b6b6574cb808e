/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of runs, and of the doctor; see web_routes.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/conversions.h"
#include "daemon/host/web/deferred.h"
#include "daemon/host/web/runs.h"
#include "daemon/host/web/tool_answer.h"
#include "daemon/host/web/web.h"
#include "daemon/host/web/web_audit.h"
#include "daemon/host/web/web_routes.h"
#include "http/exchange.h"
#include "rpc/server.h"

#define TRACE_TYPE "application/octet-stream"

static int list_runs(struct deferred *d)
{
	return runs_write_all(&d->web->api.runs, &d->caller, &d->text.json, &d->diag);
}

void api_answer_runs(struct http_exchange *x, void *context)
{
	deferred_start(x, context, list_runs, NULL);
}

static int write_run(struct deferred *d)
{
	return runs_write(&d->web->api.runs, &d->caller, d->name, &d->text.json, &d->diag);
}

void api_answer_run(struct http_exchange *x, void *context)
{
	deferred_start(x, context, write_run, http_get_param(x, "run"));
}

static int try_to_delete(struct deferred *d, uint64_t *n_bytes)
{
	struct api *a = &d->web->api;

	if (jobs_has_run(&a->jobs, d->name)) {
		diag_set(&d->diag, -EBUSY, "run %.150s: a capture still writes it", d->name);
		return RPC_ALREADY_EXISTS;
	}
	return runs_delete(&a->runs, &d->caller, d->name, n_bytes, &d->diag);
}

static int delete_run(struct deferred *d)
{
	int64_t begun_ns = monotonic_ns();
	uint64_t n_bytes = 0;
	int r = try_to_delete(d, &n_bytes);

	if (!r)
		conversions_forget(&d->web->api.conversions, d->name);
	web_audit_run_deleted(&d->caller, d->name, r, d->diag.text, n_bytes, begun_ns);
	return r;
}

void api_delete_run(struct http_exchange *x, void *context)
{
	deferred_start_silent(x, context, delete_run, http_get_param(x, "run"));
}

void api_answer_run_file(struct http_exchange *x, void *context)
{
	struct web *w = context;
	const char *file = http_get_param(x, "file");
	_cleanup_free_ char *disposition = NULL;
	struct caller caller;
	struct diag d = DIAG_INIT;
	uint64_t n_bytes;
	int fd, r;

	web_get_caller(x, &caller);
	r = runs_open_file(
		&w->api.runs, &caller, http_get_param(x, "run"), file, &fd, &n_bytes, &d);
	if (r) {
		api_refuse(x, r, &d, NULL);
		return;
	}
	if (strpbrk(file, "\"\\") ||
		asprintf(&disposition, "attachment; filename=\"%s\"", file) < 0)
		disposition = NULL;
	http_set_header(x, "Content-Disposition", disposition ? disposition : "attachment");
	http_reply_file(x, TRACE_TYPE, fd, 0, n_bytes);
}

/* --- answers that the command proftap makes from a run ---------------------------------------- */

/* An answer is kept for later requests that are equal, or forgotten where these are rare. */
enum keeping {
	KEPT,
	FORGOTTEN
};

static void answer_by_tool(
	struct http_exchange *x, struct web *w, struct tool_answer *what, enum keeping keeping)
{
	const char *name = http_get_param(x, "run");
	_cleanup_free_ char *dir = NULL;
	struct caller caller;
	struct diag d = DIAG_INIT;
	int fd, r;

	web_get_caller(x, &caller);
	r = runs_open(&w->api.runs, &caller, name, &fd, &d);
	if (r) {
		api_refuse(x, r, &d, NULL);
		return;
	}
	if (keeping == KEPT)
		what->key = conversions_make_key(fd, name, what->argv);
	close(fd);
	if (asprintf(&dir, "%s/plugins/profile/%s", runs_get_log_dir(&w->api.runs), name) < 0) {
		free(what->key);
		api_refuse_memory(x);
		return;
	}
	what->cwd = dir;
	tool_answer_start(x, w, what);
}

void api_answer_run_report(struct http_exchange *x, void *context)
{
	static const char *const argv[] = {"report", "--json", ".", NULL};
	struct tool_answer what = {.argv = argv, .type = "application/json"};

	answer_by_tool(x, context, &what, KEPT);
}

void api_answer_run_perfetto(struct http_exchange *x, void *context)
{
	static const char *const argv[] = {"convert", ".", "-t", "perfetto", "-o", "-", NULL};
	struct tool_answer what = {.argv = argv, .type = TRACE_TYPE};
	char file_name[160];

	snprintf(file_name, sizeof file_name, "%.127s.pftrace", http_get_param(x, "run"));
	what.file_name = file_name;
	answer_by_tool(x, context, &what, KEPT);
}

/* The parameters of the query, as arguments of the command. */
struct event_words {
	char limit[24];
	char depth[24];
	char from[24];
	char to[24];
	char min[24];
};

#define MAX_TIME_NS ((INT64_C(1) << 53) - 1)

static int get_words(const struct http_exchange *x, struct event_words *words, struct diag *d)
{
	const struct api_number limit = {"limit", 1, 20000, 5000}, depth = {"depth", 1, 1024, 1};
	const struct api_number times[] = {{"from", 0, MAX_TIME_NS, 0},
		{"to", 0, MAX_TIME_NS, MAX_TIME_NS}, {"min_ns", 0, MAX_TIME_NS, 0}};
	char *const to[] = {words->from, words->to, words->min};
	int64_t value;
	int r = api_get_number(x, &limit, &value, d);

	snprintf(words->limit, sizeof words->limit, "%" PRId64, value);
	if (!r)
		r = api_get_number(x, &depth, &value, d);
	snprintf(words->depth, sizeof words->depth, "%" PRId64, value);
	for (size_t i = 0; i < sizeof times / sizeof *times && !r; i++) {
		r = api_get_number(x, &times[i], &value, d);
		snprintf(to[i], sizeof words->from, "%" PRId64 "ns", value);
	}
	return r;
}

void api_answer_run_events(struct http_exchange *x, void *context)
{
	const char *pid = http_get_query(x, "pid");
	struct event_words words;
	const char *const argv[] = {"report", "--spans", words.limit, "--depth", words.depth,
		"--from", words.from, "--to", words.to, "--min_duration", words.min, ".",
		pid ? "--pid" : NULL, pid, NULL};
	struct tool_answer what = {
		.argv = argv, .type = "application/json", .usage_status = RPC_INVALID_ARGUMENT};
	struct diag d = DIAG_INIT;

	if (get_words(x, &words, &d))
		api_refuse(x, RPC_INVALID_ARGUMENT, &d, NULL);
	else
		answer_by_tool(x, context, &what, FORGOTTEN);
}

void api_answer_run_flame(struct http_exchange *x, void *context)
{
	bool has_times = http_get_query(x, "from") || http_get_query(x, "to");
	struct event_words words;
	const char *const argv[] = {"flame", "--json", ".", has_times ? "--from" : NULL, words.from,
		"--to", words.to, NULL};
	struct tool_answer what = {.argv = argv, .type = "application/json"};
	struct diag d = DIAG_INIT;

	if (get_words(x, &words, &d))
		api_refuse(x, RPC_INVALID_ARGUMENT, &d, NULL);
	else
		answer_by_tool(x, context, &what, has_times ? FORGOTTEN : KEPT);
}

void api_answer_doctor(struct http_exchange *x, void *context)
{
	static const char *const argv[] = {"doctor", "--json", NULL};
	const struct tool_answer what = {.cwd = "/", .argv = argv, .type = "application/json"};

	tool_answer_start(x, context, &what);
}
