/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of the daemon itself, the usage of the machine, and the options; see web_routes.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/options.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/api_answer.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/json_text.h"
#include "daemon/host/web/stream.h"
#include "daemon/host/web/target_json.h"
#include "daemon/host/web/tool_answer.h"
#include "daemon/host/web/usage_json.h"
#include "daemon/host/web/web.h"
#include "daemon/host/web/web_capture.h"
#include "daemon/host/web/web_routes.h"
#include "daemon/serve/session/repository.h"
#include "http/exchange.h"
#include "rpc/server.h"

/* The largest whole number that JavaScript's numbers hold. */
#define MAX_SAFE ((INT64_C(1) << 53) - 1)

/* --- the caller's session with the daemon ----------------------------------------------------- */

static void write_limits(struct json *j)
{
	json_begin_object(j, "limits");
	json_uint(j, "captures", JOBS_MAX_RUNNING);
	json_uint(j, "streams", STREAMS_MAX);
	json_uint(j, "conversions", TOOL_ANSWERS_MAX);
	json_uint(j, "targets", WEB_CAPTURE_MAX_TARGETS);
	json_uint(j, "wait_ms", WEB_CAPTURE_MAX_WAIT_MS);
	json_end_object(j);
}

static void write_session(
	struct json *j, const struct web *w, const struct caller *caller, const char *token)
{
	char hostname[128];

	repository_name_host(hostname, sizeof hostname);
	json_text(j, "token", token);
	json_text(j, "version", PACKAGE_VERSION);
	json_text(j, "hostname", hostname);
	user_json_write(j, caller->uid);
	json_bool(j, "may_all", caller->may_all);
	json_int(j, "started_unix_ms", w->api.started_unix_ms);
	json_int(j, "now_unix_ms", realtime_ns() / NS_PER_MS);
	json_text(j, "log_dir", runs_get_log_dir(&w->api.runs));
	write_limits(j);
}

void api_answer_session(struct http_exchange *x, void *context)
{
	struct web *w = context;
	char token[HTTP_TOKEN_BYTES];
	struct json_text text;
	struct caller caller;

	web_get_caller(x, &caller);
	if (http_tokens_issue(&w->guard.tokens, caller.uid, token) || json_text_begin(&text)) {
		api_refuse_memory(x);
		return;
	}
	write_session(&text.json, w, &caller, token);
	api_answer(x, 200, &text);
}

/* --- usage ------------------------------------------------------------------------------------ */

static int get_choice(const struct http_exchange *x, struct usage_json_choice *choice,
	int64_t *since, struct diag *d)
{
	const struct api_number numbers[] = {{"since", 0, MAX_SAFE, -1}, {"pid", 1, INT32_MAX, 0}};
	int64_t pid;
	int r = usage_json_set_groups(choice, http_get_query(x, "groups"), d);

	if (!r)
		r = api_get_number(x, &numbers[0], since, d);
	if (!r)
		r = api_get_number(x, &numbers[1], &pid, d);
	if (!r)
		choice->pid = (pid_t)pid;
	return r;
}

/*
 * A new program has no samples yet, and an ended one may still have some. So the pid is looked up
 * among the samples, and then among the programs.
 */
static bool knows_pid(const struct web *w, const struct usage_json_choice *choice, struct diag *d)
{
	struct program *programs = NULL;
	size_t n = 0;
	bool has = !choice->pid || usage_json_has_pid(choice, w->host->machine);

	if (!has && !programs_copy(w->host->programs, &choice->caller, &programs, &n))
		for (size_t i = 0; i < n; i++)
			has |= programs[i].pid == choice->pid;
	free(programs);
	if (!has)
		diag_set(d, -ENOENT,
			"pid: %d: no such program here; GET /api/v1/targets lists the programs",
			(int)choice->pid);
	return has;
}

void api_answer_usage(struct http_exchange *x, void *context)
{
	struct web *w = context;
	struct usage_json_choice choice;
	struct json_text text;
	struct diag d = DIAG_INIT;
	int64_t since;

	web_get_caller(x, &choice.caller);
	if (get_choice(x, &choice, &since, &d)) {
		api_refuse(x, RPC_INVALID_ARGUMENT, &d, NULL);
	} else if (!knows_pid(w, &choice, &d)) {
		api_refuse(x, RPC_NOT_FOUND, &d, NULL);
	} else if (json_text_begin(&text)) {
		api_refuse_memory(x);
	} else {
		usage_json_write(&text.json, w->host->machine, &choice, since);
		api_answer(x, 200, &text);
	}
}

/* --- options ---------------------------------------------------------------------------------- */

static void write_bound(struct json *j, const char *key, const struct option *o, int64_t bound)
{
	if (o->type == OPTION_INT && bound <= MAX_SAFE && bound >= -MAX_SAFE)
		json_int(j, key, bound);
	else
		json_nothing(j, key);
}

static void write_uses(struct json *j, unsigned uses)
{
	json_begin_list(j, "uses");
	if (uses & OPTION_OF_CAPTURE)
		json_text(j, NULL, "capture");
	if (uses & OPTION_OF_SESSION)
		json_text(j, NULL, "session");
	if (uses & OPTION_OF_RECORDER)
		json_text(j, NULL, "recorder");
	json_end_list(j);
}

static void write_option(struct json *j, const struct option *o)
{
	static const char *const types[] = {
		[OPTION_BOOL] = "bool", [OPTION_INT] = "int", [OPTION_STRING] = "string"};

	json_begin_object(j, NULL);
	json_text(j, "key", o->key);
	json_text(j, "type", types[o->type]);
	json_text(j, "place", o->place == OPTION_FIELD ? "field" : "map");
	write_bound(j, "min", o, o->min);
	write_bound(j, "max", o, o->max);
	json_text(j, "default", o->default_text);
	json_text(j, "unit", o->unit);
	json_text(j, "help", o->help);
	write_uses(j, o->uses);
	json_end_object(j);
}

void api_answer_options(struct http_exchange *x, void *context)
{
	struct json_text text;

	(void)context;
	if (json_text_begin(&text)) {
		api_refuse_memory(x);
		return;
	}
	json_begin_list(&text.json, "options");
	for (size_t i = 0; i < n_options; i++)
		write_option(&text.json, &options_table[i]);
	json_end_list(&text.json);
	api_answer(x, 200, &text);
}
