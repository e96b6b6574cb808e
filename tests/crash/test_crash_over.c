/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a program that is killed between any two instructions of an annotation while a flight
 * recorder runs. The picture of its ring holds the entries of before without the oldest segment, or
 * one entry more. Each is as it was written, none is missing, and the number of overwritten entries
 * is exact. A span is always either open or ended.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/drain/ring_picture.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "tests/crash/program.h"
#include "tests/crash/script.h"
#include "tests/crash/stage.h"
#include "tests/crash/walk.h"
#include "tests/unit/guest_fixture.h"

#define STEP_LIMIT 40000
#define MAX_POSITIONS (1u << 18)
/*
 * The least number of slots that remain when the oldest segment was given up: 15/16 of the ring,
 * less one entry.
 */
#define MIN_KEPT (FIXTURE_SLOTS / RING_SEGMENTS * (RING_SEGMENTS - 1) - RECORD_MAX_EXTRA)

/* Every slot that was ever written; the index counts the slots from the first one on. */
static struct slot written[MAX_POSITIONS];
/* 1 + the number of entries before the one that begins at the position; 0: none begins there. */
static uint64_t ordinals[MAX_POSITIONS];
static uint64_t n_entries; /* in the recording |word| */
static uint32_t word;
static uint64_t n_remembered; /* how many positions are set */

/* The state at a stop, or between two acts. */
struct state {
	uint64_t head;
	uint64_t ordinal;
	uint64_t n_overwritten;
	size_t n_slots;
	struct slot slots[FIXTURE_SLOTS];
	struct open_span open[RECORD_MAX_DEPTH];
	uint32_t n_open;
};

/*
 * The states that were seen during one act. The first is from before the act; each differs from the
 * one before it.
 */
#define MAX_STATES 16
static struct state states[MAX_STATES];
static size_t n_states;

static void take_state(struct state *state)
{
	struct drain_budget budget = {.max_bytes = 64u << 20};
	struct thread_log log = {.tid = 0};
	int r = ring_picture_take(&fixture.target, 0, stage->capture.word, &budget, &log);

	/* During its first annotation, the thread enters the recording only at the end. */
	ck_assert(r == 0 || r == RING_PICTURE_NONE);
	state->head = fixture_head(0);
	state->ordinal = log.ordinal;
	state->n_overwritten = log.n_overwritten;
	state->n_slots = log.n_slots;
	state->n_open = log.n_open;
	ck_assert_uint_le(log.n_slots, FIXTURE_SLOTS);
	if (log.n_slots)
		memcpy(state->slots, log.slots, log.n_slots * SLOT_BYTES);
	if (log.n_open)
		memcpy(state->open, log.open, log.n_open * sizeof *log.open);
	free(log.slots);
	free(log.open);
}

/*
 * Copies the slots that the thread has written since the last call. It is stopped between two acts.
 */
static void remember(void)
{
	uint64_t from = n_remembered;
	uint64_t to = fixture_head(0);

	if (stage->capture.word != word)
		n_entries = 0;
	word = stage->capture.word;
	n_remembered = to;
	ck_assert_uint_le(to, MAX_POSITIONS);
	ck_assert_uint_le(to - from, FIXTURE_SLOTS);
	while (from < to) {
		uint32_t n = 1 + record_n_extra(fixture_slot(0, from)->word[0]);

		for (uint32_t i = 0; i < n; i++)
			written[from + i] = *fixture_slot(0, from + i);
		ordinals[from] = ++n_entries;
		from += n;
	}
}

static bool is_same_open(const struct state *a, const struct state *b)
{
	if (a->n_open != b->n_open)
		return false;
	for (uint32_t i = 0; i < a->n_open; i++) {
		const struct open_span *x = &a->open[i];
		const struct open_span *y = &b->open[i];

		if (x->start != y->start || x->string_id != y->string_id || x->kind != y->kind ||
			x->n_slots != y->n_slots ||
			memcmp(x->slots, y->slots, x->n_slots * SLOT_BYTES) != 0)
			return false;
	}
	return true;
}

/*
 * Returns true if each slot is as it was written, and the number of entries before the first one is
 * right.
 */
static bool is_whole(const struct state *state)
{
	uint64_t from = state->head - state->n_slots;

	if (state->n_slots && ordinals[from] != state->n_overwritten + 1)
		return false;
	if (state->n_overwritten && state->n_slots < MIN_KEPT)
		return false;
	return memcmp(state->slots, &written[from], state->n_slots * SLOT_BYTES) == 0;
}

static bool is_same(const struct state *a, const struct state *b)
{
	return a->head == b->head && a->ordinal == b->ordinal &&
	       a->n_overwritten == b->n_overwritten && a->n_slots == b->n_slots &&
	       memcmp(a->slots, b->slots, a->n_slots * SLOT_BYTES) == 0 && is_same_open(a, b);
}

/*
 * Checks a state in an act that leads from |before| to |after|: the record and the stack change
 * together.
 */
static bool is_right(
	const struct state *state, const struct state *before, const struct state *after)
{
	if (!is_whole(state))
		return false;
	if (before->ordinal == after->ordinal)
		return state->ordinal == before->ordinal &&
		       (is_same_open(state, before) || is_same_open(state, after));
	return (state->ordinal == before->ordinal && is_same_open(state, before)) ||
	       (state->ordinal == after->ordinal && is_same_open(state, after));
}

static void see(void)
{
	ck_assert_uint_lt(n_states, MAX_STATES);
	take_state(&states[n_states]);
	if (n_states == 0 || !is_same(&states[n_states], &states[n_states - 1]))
		n_states++;
}

/* Judges the states in |act|. Returns how many were wrong. */
static size_t judge(size_t act)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < n_states; i++)
		n_wrong += !is_right(&states[i], &states[0], &states[n_states - 1]);
	n_wrong += states[n_states - 1].ordinal != n_entries;
	if (n_wrong)
		printf("# act %zu (%s): %zu of %zu states are wrong\n", act, script[act].name,
			n_wrong, n_states);
	return n_wrong;
}

static size_t step_through(pid_t pid, size_t act, size_t *n_stops)
{
	n_states = 0;
	see();
	while (program_step(pid, act)) {
		ck_assert_uint_lt(*n_stops, STEP_LIMIT);
		see();
		(*n_stops)++;
	}
	see();
	remember();
	return judge(act);
}

START_TEST(the_picture_of_a_killed_program_is_whole)
{
	static const struct walk walk = {.step_through = step_through, .look_behind = remember};

	walk_script(&walk);
	ck_assert_uint_gt(fixture_head(0), 5 * FIXTURE_SLOTS);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, the_picture_of_a_killed_program_is_whole);
}

int main(void)
{
	return walk_main("crash_over", add_tests);
}
