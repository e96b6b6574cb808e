/* SPDX-License-Identifier: Apache-2.0 */
/* The window of a thread's records; see thread_window.h. */
#include "daemon/pipeline/drain/thread_window.h"

#include <stdbool.h>

#include "base/prefetch.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/target/entry.h"

/* The number of slots that are read together. */
#define ROW 8

static size_t next_entry(const struct thread_log *log, size_t at)
{
	return at + 1 + record_n_extra(log->slots[at].word[0]);
}

static uint64_t count_entries(const struct thread_log *log, size_t at, size_t end)
{
	uint64_t n = 0;

	for (; at < end; at = next_entry(log, at))
		n++;
	return n;
}

size_t thread_window_pass(const struct thread_log *log, size_t position, uint64_t *n_out)
{
	size_t at = 0;

	for (*n_out = 0; at < position; ++*n_out)
		at = next_entry(log, at);
	return at < log->n_slots ? at : log->n_slots;
}

uint64_t thread_window_count(const struct thread_log *log)
{
	return count_entries(log, 0, log->n_slots);
}

/*
 * Returns the slot behind the last era that is not known. Entries of it and of earlier eras that
 * may have ended at |from_ticks| or later are counted, and |*until| becomes the end of the last
 * such era.
 */
static size_t pass_undated(struct thread_log *log, uint64_t from_ticks, uint64_t *until)
{
	size_t n_passed = log->n_eras;
	size_t begin = 0;

	while (n_passed && era_is_known(&log->eras[n_passed - 1]))
		n_passed--;
	for (size_t i = 0; i < n_passed; i++) {
		if (log->eras[i].before_ticks >= from_ticks) {
			log->n_undated += count_entries(log, begin, log->eras[i].end);
			*until = log->eras[i].before_ticks;
		}
		begin = log->eras[i].end;
	}
	return begin;
}

/* Returns 0 for an entry that makes no sense: a hostile one may claim to be longer than the log. */
static uint64_t find_end(const struct thread_log *log, size_t at, const struct era *era)
{
	struct entry e;

	if (next_entry(log, at) > log->n_slots || !entry_decode(&e, &log->slots[at], era))
		return 0;
	return e.start + e.duration;
}

uint64_t thread_window_find_last_end(const struct thread_log *log)
{
	const struct era *era = log->n_eras ? &log->eras[log->n_eras - 1] : NULL;
	size_t last = 0;

	if (!log->n_slots || !era || !era_is_known(era))
		return 0;
	for (size_t at = 0; at < log->n_slots; at = next_entry(log, at))
		last = at;
	return find_end(log, last, era);
}

/*
 * Finds log->complete_ticks when the rest of |log| is set; entries of unknown time ended before
 * |undated_until|.
 */
static uint64_t find_complete(
	const struct thread_log *log, uint64_t from_ticks, uint64_t undated_until)
{
	uint64_t first_end = log->window_ticks ? log->window_ticks : UINT64_MAX;

	if (log->is_limited)
		return from_ticks;
	if (log->n_overwritten || log->lost_memory)
		return first_end;
	return log->n_undated && first_end < undated_until ? first_end : undated_until;
}

void thread_window_limit(struct thread_log *log, uint64_t from_ticks, struct drain_budget *budget)
{
	uint64_t undated_until = 0;
	size_t at = pass_undated(log, from_ticks, &undated_until);
	const struct era *era = log->eras;
	uint64_t end = 0;
	bool is_covered;

	/* Entries are in the order of their ends. */
	while (at < log->n_slots) {
		while (era->end <= at)
			era++;
		end = find_end(log, at, era);
		if (end && end >= from_ticks)
			break;
		at = next_entry(log, at);
	}
	is_covered = at > 0 && !log->n_undated;
	log->is_limited = is_covered || (log->is_limited && !log->n_left_out && !log->n_undated);
	if (!is_covered)
		log->lost_memory += log->n_left_out;
	log->n_left_out = 0;
	log->window_ticks = at < log->n_slots ? end : 0;
	log->complete_ticks = find_complete(log, from_ticks, undated_until);
	if (log->gone_ticks && log->gone_ticks < from_ticks)
		log->n_open = 0;
	if (at)
		thread_log_forget(log, at < log->n_slots ? at : log->n_slots, budget);
}

/* True when ROW records without extra slots begin at |at|: then each slot is a record. */
static bool is_row(const struct thread_log *log, size_t at, size_t end)
{
	uint64_t any = 0;

	if (end - at < ROW)
		return false;
	for (size_t i = 0; i < ROW; i++)
		any |= log->slots[at + i].word[0];
	return record_n_extra(any) == 0;
}

static uint64_t find_earlier(const struct slot *slot, const struct era *era, uint64_t first)
{
	uint64_t duration = slot->word[1] & RECORD_DURATION_MASK;
	/*
	 * The difference is negative for a record that makes no sense. As an unsigned number it is
	 * then a late time.
	 */
	uint64_t start = era_date(era, slot->word[0] + duration) - duration;

	return start < first ? start : first;
}

/* A cache line holds four slots. */
static void prefetch_row(const struct slot *slots)
{
	for (size_t i = 0; i < ROW; i += 4)
		prefetch_for_read((const uint8_t *)&slots[i] + PREFETCH_AHEAD_BYTES);
}

/* A long entry keeps its duration in an extra slot. */
static uint64_t find_one_earlier(
	const struct thread_log *log, size_t at, const struct era *era, uint64_t first)
{
	struct entry e;

	if (next_entry(log, at) <= log->n_slots && entry_decode(&e, &log->slots[at], era))
		return e.start < first ? e.start : first;
	return first;
}

static uint64_t find_first(
	const struct thread_log *log, size_t *at, const struct era *era, uint64_t first)
{
	/* There are millions of slots, so a record that makes no sense is read like the others. */
	while (*at < era->end) {
		if (!is_row(log, *at, era->end)) {
			first = find_one_earlier(log, *at, era, first);
			*at = next_entry(log, *at);
			continue;
		}
		prefetch_row(&log->slots[*at]);
		for (size_t i = 0; i < ROW; i++)
			first = find_earlier(&log->slots[*at + i], era, first);
		*at += ROW;
	}
	return first;
}

uint64_t thread_window_find_first(
	const struct thread_log *log, uint64_t earliest_ticks, uint64_t before)
{
	const struct era whole = {log->n_slots, earliest_ticks, UINT64_MAX};
	size_t at = 0;

	if (!log->n_eras)
		return find_first(log, &at, &whole, before);
	for (size_t i = 0; i < log->n_eras; i++)
		if (era_is_known(&log->eras[i]))
			before = find_first(log, &at, &log->eras[i], before);
		else
			at = log->eras[i].end;
	return before;
}
