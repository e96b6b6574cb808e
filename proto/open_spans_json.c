/* SPDX-License-Identifier: Apache-2.0 */
/* Open spans as JSON; see open_spans_json.h. */
#include "proto/open_spans_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/json.h"

static void json_write_value(struct json *j, const Proftap__V1__Argument *a)
{
	char hex[24];

	switch (a->value_case) {
	case PROFTAP__V1__ARGUMENT__VALUE_INT64:
		json_int(j, "value", a->int64);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_UINT64:
		json_uint(j, "value", a->uint64);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_DOUBLE:
		json_double(j, "value", a->double_);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_TEXT:
		json_text(j, "value", a->text);
		break;
	case PROFTAP__V1__ARGUMENT__VALUE_POINTER:
		snprintf(hex, sizeof hex, "0x%" PRIx64, a->pointer);
		json_text(j, "value", hex);
		break;
	default:
		json_nothing(j, "value");
		break;
	}
}

static void span_write_times(struct json *j, const Proftap__V1__OpenSpan *span)
{
	json_uint(j, "age_ns", span->age_ns);
	json_uint(j, "since_unix_ns", span->since_unix_ns);
}

static void span_write_arguments(struct json *j, const Proftap__V1__OpenSpan *span)
{
	json_begin_list(j, "arguments");
	for (size_t i = 0; i < span->n_arguments; i++) {
		json_begin_object(j, NULL);
		json_text(j, "name", span->arguments[i]->name);
		json_write_value(j, span->arguments[i]);
		json_end_object(j);
	}
	json_end_list(j);
}

static void span_write(struct json *j, const Proftap__V1__OpenSpan *span)
{
	json_begin_object(j, NULL);
	json_text(j, "name", span->name);
	json_uint(j, "depth", span->depth);
	span_write_times(j, span);
	if (span->is_step)
		json_int(j, "step", span->step_number);
	else
		json_nothing(j, "step");
	span_write_arguments(j, span);
	json_end_object(j);
}

static void async_write(struct json *j, const Proftap__V1__AsyncSpan *async)
{
	json_begin_object(j, NULL);
	json_text(j, "name", async->span->name);
	json_uint(j, "id", async->id);
	span_write_times(j, async->span);
	json_int(j, "tid", async->tid);
	json_known_text(j, "thread", async->thread);
	json_bool(j, "may_have_ended", async->may_have_ended);
	span_write_arguments(j, async->span);
	json_end_object(j);
}

static void process_write_asyncs(struct json *j, const Proftap__V1__ProcessSpans *p)
{
	json_begin_list(j, "async_spans");
	for (size_t i = 0; i < p->n_asyncs; i++)
		if (p->asyncs[i]->span)
			async_write(j, p->asyncs[i]);
	json_end_list(j);
	json_uint(j, "async_left_out", p->n_asyncs_left_out);
	if (p->asyncs_known_unix_ns)
		json_uint(j, "async_known_since_unix_ns", p->asyncs_known_unix_ns);
	else
		json_nothing(j, "async_known_since_unix_ns");
}

static void thread_write(struct json *j, const Proftap__V1__ThreadSpans *t)
{
	json_begin_object(j, NULL);
	json_int(j, "tid", t->tid);
	json_text(j, "name", t->name);
	json_known_text(j, "state", t->state);
	json_known_text(j, "wait_channel", t->wait_channel);
	if (t->syscall > 0)
		json_int(j, "syscall", t->syscall - 1);
	else
		json_nothing(j, "syscall");
	json_known_text(j, "syscall_name", t->syscall_name);
	json_bool(j, "moving", t->is_moving);
	json_begin_list(j, "spans");
	for (size_t i = 0; i < t->n_spans; i++)
		span_write(j, t->spans[i]);
	json_end_list(j);
	json_end_object(j);
}

/* Writes how the process ended, if it has. */
static void process_write_end(struct json *j, const Proftap__V1__ProcessSpans *p, bool has_ended)
{
	json_known_text(j, "ending", p->ending);
	if (has_ended)
		json_uint(j, "ended_ago_ns", p->ended_ago_ns);
	else
		json_nothing(j, "ended_ago_ns");
	if (p->signal_tid)
		json_int(j, "signal_tid", p->signal_tid);
	else
		json_nothing(j, "signal_tid");
	json_known_text(j, "signal_thread", p->signal_thread);
}

static void process_write(struct json *j, const Proftap__V1__ProcessSpans *p)
{
	json_begin_object(j, NULL);
	json_int(j, "pid", p->pid);
	json_text(j, "name", p->name);
	json_text(j, "state", p->state);
	json_known_text(j, "recording", p->recording);
	json_uint(j, "level", p->level);
	process_write_end(j, p, p->state[0] == 'e');
	json_uint(j, "left_out", p->n_left_out);
	json_begin_list(j, "threads");
	for (size_t i = 0; i < p->n_threads; i++)
		thread_write(j, p->threads[i]);
	json_end_list(j);
	process_write_asyncs(j, p);
	json_end_object(j);
}

void open_spans_json_write(struct json *j, const Proftap__V1__OpenSpansReply *reply)
{
	json_uint(j, "at_unix_ns", reply->unix_ns);
	json_begin_list(j, "processes");
	for (size_t i = 0; i < reply->n_processes; i++)
		process_write(j, reply->processes[i]);
	json_end_list(j);
}
