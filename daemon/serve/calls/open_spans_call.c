/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSpans of proftap.v1. A thread of its own reads the answer from shared memory and /proc,
 * without the program and the worker. So the call is answered while they are stopped, hang, or are
 * busy.
 */
#include "daemon/serve/calls/service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/grow.h"
#include "daemon/kernel/thread_list.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/message/open_spans.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/session/recorder_end.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_recorder.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "rpc/server.h"

struct lists {
	struct open_spans_list *v; /* the program first, then followed children by pid */
	size_t n;
	size_t n_allocated;
	int error; /* -ENOMEM */
};

static void add_list(struct lists *l, const struct target *t)
{
	if (!l->error)
		l->error = grow(&l->v, &l->n_allocated, l->n + 1);
	if (!l->error)
		l->v[l->n++] = (struct open_spans_list){
			.pid = t->pid, .has_own_tids = t->has_own_tids, .error = -ENOENT};
}

/* A child that has ended is left out, because its rings are given back. */
static void add_child_list(struct child *child, void *lists)
{
	if (target_get_life(&child->target) == TARGET_ALIVE)
		add_list(lists, &child->target);
}

static int compare_pids(const void *left, const void *right)
{
	const struct open_spans_list *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static void read_lists(struct lists *l, struct family *f)
{
	add_list(l, f->main);
	family_visit(f, add_child_list, l);
	if (l->error)
		return;
	qsort(l->v + 1, l->n - 1, sizeof *l->v, compare_pids);
	for (size_t i = 0; i < l->n; i++)
		l->v[i].error = thread_list_read(
			"", l->v[i].pid, l->v[i].has_own_tids, &l->v[i].v, &l->v[i].n);
}

static void free_lists(struct lists *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].v);
	free(l->v);
}

/* Returns what records the processes: a capture, the flight recorder, both, or "" for none. */
static const char *name_recording(struct session *s)
{
	const struct family *f = s->family;

	if (f->recorder_level || recorder_end_holds(s))
		return f->capture_level ? "capture and recorder" : "recorder";
	return f->capture_level ? "capture" : "";
}

static unsigned find_level(const struct family *f)
{
	unsigned capture = f->capture_level;
	unsigned recorder = f->recorder_level;

	return capture > recorder ? capture : recorder;
}

struct child_reading {
	struct open_spans *spans;
	bool wants_latest;
	const struct open_spans_list *list;
	struct session *session;
};

static void add_spans(const struct child_reading *l, struct target *t)
{
	const char *recording = name_recording(l->session);
	unsigned level = find_level(l->session->family);

	if (l->wants_latest)
		open_spans_add_latest(l->spans, t, recording, level);
	else
		open_spans_add(l->spans, t, l->list, recording, level);
}

static void add_child_spans(struct child *child, void *context)
{
	const struct child_reading *l = context;

	if (child->target.pid == l->list->pid && target_get_life(&child->target) == TARGET_ALIVE)
		add_spans(l, &child->target);
}

static void fill_open_spans(
	struct open_spans *o, struct session *s, const struct lists *l, bool wants_latest)
{
	struct child_reading main = {o, wants_latest, &l->v[0], s};

	add_spans(&main, s->family->main);
	for (size_t i = 1; i < l->n; i++) {
		struct child_reading reading = {o, wants_latest, &l->v[i], s};

		family_visit(s->family, add_child_spans, &reading);
	}
}

/* 1 or 0; -1: the request cannot be read. */
static int wants_latest_values(const struct errand *e)
{
	Proftap__V1__OpenSpansRequest *request =
		proftap__v1__open_spans_request__unpack(NULL, e->request_bytes, e->request);
	int wants = request ? request->latest_values : -1;

	proftap__v1__open_spans_request__free_unpacked(request, NULL);
	return wants;
}

static void do_open_spans(struct errand *e)
{
	int wants_latest = wants_latest_values(e);
	const struct service *service = e->context;
	struct session *s = service->session;
	bool uses_ticks = atomic_load(&s->family->main->arena->clock) == ARENA_CLOCK_TICKS;
	struct open_spans_clock clock;
	struct open_spans spans;
	struct lists lists = {NULL, 0, 0, 0};

	if (recorder_end_holds(s) && !session_recorder_may_inherit(s, e->call)) {
		reply_v1_refusal(e->call, s, SESSION_CLOSED);
		return;
	}
	if (wants_latest < 0) {
		rpc_call_fail(
			e->call, RPC_INVALID_ARGUMENT, "the request is not an OpenSpansRequest");
		return;
	}
	read_lists(&lists, s->family);
	open_spans_clock_read(&clock, service->first_pair, uses_ticks);
	open_spans_init(&spans, &clock);
	if (!lists.error)
		fill_open_spans(&spans, s, &lists, wants_latest);
	if (lists.error || spans.error)
		reply_no_memory(e->call);
	else
		reply_message(e->call, &spans.reply.base);
	open_spans_deinit(&spans);
	free_lists(&lists);
}

void open_spans_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_FILES, call, bytes, n, do_open_spans);
}
