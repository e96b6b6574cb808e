/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of threads, written by hand; see log_fixture.h. */
#include "tests/unit/log_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "tests/unit/guest_fixture.h"

struct log_fixture logs;

void log_open(void)
{
	struct clock_pair start = {LOG_START_TICKS, 777};
	struct clock_pair stop = {LOG_STOP_TICKS, 777 + 1000000};

	fixture_open();
	logs.budget = (struct drain_budget){.max_bytes = 64u << 20};
	drain_init(&logs.drain, &fixture.target, &logs.budget);
	timeline_init(&logs.timeline, 1);
	ck_assert_int_eq(timeline_add(&logs.timeline, start), 0);
	ck_assert_int_eq(timeline_add(&logs.timeline, stop), 0);
	logs.space = NULL;
	logs.carry = NULL;
	logs.ended = 0;
	logs.window = 0;
	logs.stop_ns = stop.monotonic_ns - start.monotonic_ns;
	logs.settled = LOG_STOP_TICKS - LOG_START_TICKS;
}

void log_close(void)
{
	logs.space = space_free(logs.space);
	timeline_deinit(&logs.timeline);
	drain_deinit(&logs.drain);
	fixture_close();
}

struct thread_log *log_add(int32_t tid, const char *name)
{
	struct thread_log *log = calloc(1, sizeof *log);

	ck_assert_ptr_nonnull(log);
	log->tid = tid;
	snprintf(log->name, sizeof log->name, "%s", name);
	ck_assert_int_eq(
		grow(&logs.drain.logs, &logs.drain.n_logs_allocated, logs.drain.n_logs + 1), 0);
	logs.drain.logs[logs.drain.n_logs++] = log;
	return log;
}

void log_put_slot(struct thread_log *log, uint64_t word0, uint64_t word1)
{
	/* The check library writes to a pipe at each assertion. */
	if (grow(&log->slots, &log->n_allocated, log->n_slots + 1))
		ck_assert_msg(0, "no memory");
	log->slots[log->n_slots].word[0] = word0;
	log->slots[log->n_slots++].word[1] = word1;
}

void log_put(struct thread_log *log, enum record_kind kind, uint32_t string_id, uint64_t start,
	uint64_t duration, unsigned depth, unsigned n_extra)
{
	log_put_slot(log, record_word0(LOG_START_TICKS + start, kind, depth, n_extra),
		record_word1(duration, string_id));
}

void log_put_text(struct thread_log *log, uint32_t key, enum slot_type type, const char *text)
{
	struct slot slots[RECORD_MAX_EXTRA] = {{{0, 0}}};
	uint32_t n = (uint32_t)strlen(text);

	slots[0].word[0] = slot_word0(key, type, n);
	memcpy(&slots[0].word[1], text, n);
	for (unsigned i = 0; i < slot_count_for_text(n); i++)
		log_put_slot(log, slots[i].word[0], slots[i].word[1]);
}

void log_put_span(
	struct thread_log *log, const char *name, uint64_t start, uint64_t end, unsigned depth)
{
	log_put(log, RECORD_SPAN, fixture_add_string(name), start, end - start, depth, 0);
}

struct open_span *log_put_open(struct thread_log *log, const char *name, uint64_t start)
{
	struct open_span *open;

	log->open = reallocarray(log->open, log->n_open + 1, sizeof *log->open);
	ck_assert_ptr_nonnull(log->open);
	open = &log->open[log->n_open++];
	memset(open, 0, sizeof *open);
	open->start = LOG_START_TICKS + start;
	open->string_id = fixture_add_string(name);
	open->kind = RECORD_SPAN;
	return open;
}

/* The buffer has exactly the size of its content, so that a sanitizer detects reads beyond it. */
static void trim(struct thread_log *log)
{
	if (!log->n_slots)
		return;
	log->slots = reallocarray(log->slots, log->n_slots, sizeof *log->slots);
	ck_assert_ptr_nonnull(log->slots);
	log->n_allocated = log->n_slots;
}

void log_assemble_with(struct assembly *assembly)
{
	struct assemble_input in = {
		.drain = &logs.drain,
		.timeline = &logs.timeline,
		.earliest_ticks = LOG_START_TICKS,
		.start_ticks = LOG_START_TICKS,
		.window_ticks = LOG_START_TICKS + logs.window,
		.stop_ticks = LOG_STOP_TICKS,
		.stop_ns = logs.stop_ns,
		.start_unix_ns = LOG_START_UNIX_NS,
		.ended_ticks = logs.ended ? LOG_START_TICKS + logs.ended : 0,
		.end_ns = logs.end_ns,
		.carry = logs.carry,
		.settled_ticks = LOG_START_TICKS + logs.settled,
		.uses_ticks = 1,
		.plane_name = PLANE_HOST,
		.max_ops = logs.max_ops,
		.assembly = assembly,
	};

	for (size_t i = 0; i < logs.drain.n_logs; i++)
		trim(logs.drain.logs[i]);
	ck_assert_int_eq(space_new(&logs.space), 0);
	ck_assert_int_eq(assemble_host_plane(&in, logs.space), 0);
	logs.plane = space_find_plane(logs.space, PLANE_HOST);
	ck_assert_ptr_nonnull(logs.plane);
}

void log_assemble(void)
{
	log_assemble_with(NULL);
}

const struct trace_event *log_event(size_t line, size_t i)
{
	ck_assert_uint_lt(line, logs.plane->n_lines);
	ck_assert_uint_lt(i, logs.plane->lines[line].n_events);
	return &logs.plane->lines[line].events[i];
}

const char *log_event_name(size_t line, size_t i)
{
	return names_get(&logs.plane->event_names, log_event(line, i)->name);
}

const struct trace_stat *log_event_stat(size_t line, size_t i, const char *name)
{
	uint32_t index = names_find(&logs.plane->stat_names, name);

	return plane_find_stat(logs.plane, log_event(line, i), index);
}

uint64_t log_plane_stat(const char *name)
{
	const struct trace_stat *stat = plane_find_own_stat(logs.plane, name);

	return stat ? stat->value.u64 : 0;
}

bool log_has_warning(const char *words)
{
	for (uint32_t i = 0; i < logs.space->warnings.n_texts; i++)
		if (strstr(names_get(&logs.space->warnings, i), words))
			return true;
	return false;
}
