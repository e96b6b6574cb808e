/* SPDX-License-Identifier: Apache-2.0 */
/* The time that a thread's records cover; see thread_window.h. */
#include "daemon/thread_window.h"

#include "daemon/entry.h"
#include "daemon/thread_log.h"

/* Slots that are looked at together. */
#define ROW 8

static size_t next_entry(const struct thread_log *log, size_t at)
{
	return at + 1 + record_n_extra(log->slots[at].word[0]);
}

uint64_t thread_window_count(const struct thread_log *log)
{
	uint64_t n = 0;

	for (size_t at = 0; at < log->n_slots; at = next_entry(log, at))
		n++;
	return n;
}

/* 0 for one that makes no sense: a hostile one may say that it is longer than all there is. */
static int decode(const struct thread_log *log, size_t at, uint64_t earliest_ticks, struct entry *e)
{
	return next_entry(log, at) <= log->n_slots &&
	       entry_decode(e, &log->slots[at], earliest_ticks);
}

static uint64_t find_end(const struct thread_log *log, size_t at, uint64_t earliest_ticks)
{
	struct entry e;

	return decode(log, at, earliest_ticks, &e) ? e.start + e.duration : 0;
}

void thread_window_limit(struct thread_log *log, uint64_t earliest_ticks, uint64_t from_ticks,
	struct drain_budget *budget)
{
	size_t at = 0;
	uint64_t end = 0;

	/* They are in the order of their ends. */
	while (at < log->n_slots) {
		end = find_end(log, at, earliest_ticks);
		if (end && end >= from_ticks)
			break;
		at = next_entry(log, at);
	}
	log->is_limited = at > 0;
	log->window_ticks = at < log->n_slots ? end : 0;
	if (at)
		thread_log_forget(log, at < log->n_slots ? at : log->n_slots, budget);
}

/* Whether the entries from |at| on are a row of records without extra slots: then nobody need know one to find the next. */
static int is_row(const struct thread_log *log, size_t at)
{
	uint64_t any = 0;

	if (log->n_slots - at < ROW)
		return 0;
	for (size_t i = 0; i < ROW; i++)
		any |= log->slots[at + i].word[0];
	return record_n_extra(any) == 0;
}

static uint64_t find_earlier(const struct slot *slot, uint64_t earliest_ticks, uint64_t first)
{
	uint64_t since = (slot->word[0] - earliest_ticks) & RECORD_START_MASK;

	return since < first ? since : first;
}

uint64_t thread_window_find_first(
	const struct thread_log *log, uint64_t earliest_ticks, uint64_t before)
{
	uint64_t first = before - earliest_ticks;
	size_t at = 0;

	/* Millions of them: one that makes no sense is looked at like the others. */
	while (at < log->n_slots) {
		size_t n = is_row(log, at) ? ROW : 1;
		size_t next = n == ROW ? at + ROW : next_entry(log, at);

		for (size_t i = 0; i < n; i++)
			first = find_earlier(&log->slots[at + i], earliest_ticks, first);
		at = next;
	}
	return earliest_ticks + first;
}
