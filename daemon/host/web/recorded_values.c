/* SPDX-License-Identifier: Apache-2.0 */
/* The newest counters and steps that flight recorders hold; see recorded_values.h. */
#include "daemon/host/web/recorded_values.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/client.h"

#define OPEN_SPANS "/proftap.v1.Profiler/OpenSpans"
/* Room for 64 counters and 64 steps, with names, of a program and of each of some children. */
#define MAX_REPLY_BYTES (1u << 20)
#define MAX_PATTERN_BYTES 256
#define S_PER_NS 1e-9

struct recorded_question {
	const struct program *program;
	struct rpc_channel *channel; /* NULL: it could not be asked */
	struct rpc_pending *pending;
};

/*
 * Returns true if one of |patterns|, a comma list of shell patterns with * and ?, matches |name|.
 */
static bool recorded_values_match(const char *patterns, const char *name)
{
	while (*patterns) {
		size_t n = strcspn(patterns, ",");
		char pattern[MAX_PATTERN_BYTES];

		if (n && n < sizeof pattern) {
			memcpy(pattern, patterns, n);
			pattern[n] = '\0';
			if (fnmatch(pattern, name, 0) == 0)
				return true;
		}
		patterns += n + (patterns[n] == ',');
	}
	return false;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void add_value(struct recorded_list *list, const struct recorded_question *q,
	const Proftap__V1__ProcessSpans *p, bool is_child, const struct recorded_value *value)
{
	struct recorded_value *to;

	if (list->n == RECORDED_MAX_VALUES || grow(&list->v, &list->n_allocated, list->n + 1))
		return;
	to = &list->v[list->n];
	*to = *value;
	/*
	 * The pid of a program is the one that this daemon sees. The pids of its children are known
	 * only to the program's server.
	 */
	to->pid = is_child ? p->pid : q->program->pid;
	to->process = strdup(is_child ? p->name : q->program->status.name);
	to->name = strdup(value->name);
	if (to->process && to->name) {
		list->n++;
		return;
	}
	free(to->process);
	free(to->name);
}

static void add_process(struct recorded_values *r, const struct recorded_question *q,
	const Proftap__V1__ProcessSpans *p, bool is_child)
{
	for (size_t i = 0; i < p->n_counters; i++)
		add_value(&r->counters, q, p, is_child,
			&(struct recorded_value){
				.name = p->counters[i]->name, .value = p->counters[i]->value});
	for (size_t i = 0; i < p->n_steps; i++)
		add_value(&r->steps, q, p, is_child,
			&(struct recorded_value){.name = p->steps[i]->name,
				.value = (double)p->steps[i]->number,
				.step_s = (double)p->steps[i]->duration_ns * S_PER_NS});
}

static void question_take_reply(struct recorded_values *r, const struct recorded_question *q)
{
	_cleanup_free_ uint8_t *bytes = malloc(MAX_REPLY_BYTES);
	Proftap__V1__OpenSpansReply *reply = NULL;
	size_t n = 0;

	if (bytes && !rpc_pending_copy(q->pending, bytes, MAX_REPLY_BYTES, &n))
		reply = proftap__v1__open_spans_reply__unpack(NULL, n, bytes);
	for (size_t i = 0; reply && i < reply->n_processes; i++)
		add_process(r, q, reply->processes[i], i > 0);
	proftap__v1__open_spans_reply__free_unpacked(reply, NULL);
}

/* --- questions -------------------------------------------------------------------------------- */

static void question_start(struct recorded_question *q, struct programs *programs, int wait_ms)
{
	/* OpenSpansRequest.latest_values */
	static const uint8_t wants_latest[] = {1 << 3, 1};
	const struct rpc_request request = {
		.path = OPEN_SPANS,
		.message = wants_latest,
		.message_bytes = sizeof wants_latest,
		.timeout_ms = wait_ms,
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct diag d = DIAG_INIT;

	if (program_channel_open(programs, q->program->id, &q->channel, &d))
		return;
	if (rpc_call_start(q->channel, &request, &q->pending, &d))
		q->pending = NULL;
}

static void question_finish(struct recorded_values *r, struct recorded_question *q)
{
	/* The call has a time limit of its own. */
	while (q->pending && !rpc_pending_wait(q->pending, -1))
		;
	if (q->pending && rpc_pending_get_status(q->pending) == RPC_OK)
		question_take_reply(r, q);
	rpc_pending_free(q->pending);
	rpc_channel_free(q->channel);
}

void recorded_values_ask(struct recorded_values *r, struct programs *programs,
	const struct program *v, size_t n, const char *patterns, int wait_ms)
{
	struct recorded_question questions[RECORDED_MAX_PROGRAMS];
	size_t n_asked = 0;

	for (size_t i = 0; i < n && n_asked < RECORDED_MAX_PROGRAMS; i++) {
		if (!v[i].status.has_recorder || v[i].status.has_ended ||
			!recorded_values_match(patterns, v[i].status.name))
			continue;
		questions[n_asked] = (struct recorded_question){.program = &v[i]};
		question_start(&questions[n_asked++], programs, wait_ms);
	}
	for (size_t i = 0; i < n_asked; i++)
		question_finish(r, &questions[i]);
}

static void recorded_list_free(struct recorded_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].process);
		free(list->v[i].name);
	}
	free(list->v);
	*list = (struct recorded_list){.n = 0};
}

void recorded_values_deinit(struct recorded_values *r)
{
	recorded_list_free(&r->counters);
	recorded_list_free(&r->steps);
}
