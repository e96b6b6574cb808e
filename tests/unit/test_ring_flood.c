/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests threads that write as fast as they can into rings that overwrite, while pictures
 * are taken all the time: no picture has a torn, invented or missing entry, and at the
 * end all are accounted for.
 */
#include "daemon/pipeline/drain/ring_picture.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/entry_fixture.h"
#include "tests/unit/picture_fixture.h"
#include "tests/unit/unit.h"

#define N_WRITERS 3
#define FLOOD_NS (400 * NS_PER_MS)
/* The least number of laps, however slow the machine is. */
#define MIN_LAPS 4

static _Atomic int quit;
static uint32_t word;

struct writer {
	pthread_t thread;
	int32_t tid;
	uint64_t n_emitted;
	uint64_t n_written;
};

static struct writer writers[N_WRITERS];

/* Most entries are short. */
static uint32_t choose_n_extra(uint64_t n)
{
	uint32_t mixed = (uint32_t)(n * 2654435761u) >> 16;

	return mixed % 4 ? 0 : mixed / 4 % (RECORD_MAX_EXTRA + 1);
}

static void *write_entries(void *argument)
{
	struct writer *w = argument;

	while (!quit) {
		w->n_written +=
			(uint64_t)entry_write(word, w->n_written, choose_n_extra(w->n_emitted));
		w->n_emitted++;
	}
	return NULL;
}

static void start_writers(void *(*run)(void *))
{
	quit = 0;
	memset(writers, 0, sizeof writers);
	for (int i = 0; i < N_WRITERS; i++)
		ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, run, &writers[i]), 0);
}

static void stop_writers(void)
{
	quit = 1;
	for (int i = 0; i < N_WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
}

/* Returns whether each writer has written |n_slots| or more. */
static bool have_all_written(uint64_t n_slots)
{
	for (uint32_t i = 0; i < N_WRITERS; i++)
		if (atomic_load(&fixture.arena->ring_state[i]) != RING_USED ||
			fixture_head(i) < n_slots)
			return false;
	return true;
}

static bool is_over(int64_t start_ns)
{
	return monotonic_ns() > start_ns + FLOOD_NS &&
	       have_all_written(MIN_LAPS * (uint64_t)fixture.target.n_slots);
}

/* Returns how many entries the threads wrote, in whichever rings. */
static uint64_t count_written(uint64_t *n_emitted)
{
	uint64_t n = 0;

	*n_emitted = 0;
	for (int i = 0; i < N_WRITERS; i++) {
		n += writers[i].n_written;
		*n_emitted += writers[i].n_emitted;
	}
	return n;
}

static void check_picture(uint32_t i, uint64_t *ordinal)
{
	struct pictured p;

	pictured_take(&p, i, word);
	if (p.result != RING_PICTURE_NONE) {
		ck_assert_int_eq(p.result, 0);
		ck_assert_int_ge(p.n_kept, 0);
		ck_assert_uint_eq(p.log.n_overwritten + (uint64_t)p.n_kept, p.log.ordinal);
		ck_assert_uint_ge(p.log.ordinal, *ordinal);
		*ordinal = p.log.ordinal;
	}
	pictured_free(&p);
}

static void open_rings(uint32_t ring_bytes)
{
	fixture_open_sized(N_WRITERS, ring_bytes);
	fixture_overwrite(true);
	word = fixture_start(1);
}

START_TEST(no_picture_has_a_torn_entry)
{
	uint64_t ordinals[N_WRITERS] = {0};
	uint64_t n_in_pictures = 0;
	uint64_t n_emitted;
	int64_t start_ns = monotonic_ns();

	open_rings(FIXTURE_RING_BYTES << 2 * _i);
	start_writers(write_entries);
	while (!is_over(start_ns))
		for (uint32_t i = 0; i < N_WRITERS; i++)
			check_picture(i, &ordinals[i]);
	stop_writers();
	for (uint32_t i = 0; i < N_WRITERS; i++) {
		check_picture(i, &ordinals[i]);
		n_in_pictures += ordinals[i];
		ck_assert_uint_eq(fixture_lost(i, LOSS_FULL), 0);
	}
	ck_assert_uint_eq(count_written(&n_emitted), n_in_pictures);
	ck_assert_uint_eq(n_emitted, n_in_pictures);
	fixture_close();
}
END_TEST

/* --- spans ---------------------------------------------------------------------------------- */

/* Writes pairs of spans with the number of their turn: an outer one, and one inside of it. */
static void *write_spans(void *unused)
{
	for (uint64_t n = 1; !quit; n++) {
		PTAP_SPAN_ARGS("outer", PTAP_U("n", n));
		{
			PTAP_SPAN_ARGS("inner", PTAP_U("n", n));
		}
	}
	return unused;
}

struct turns {
	uint64_t t_ticks;
	uint64_t first[2]; /* for each depth */
	uint64_t next[2];
};

static void see(struct turns *turns, unsigned depth, uint64_t start, uint64_t n)
{
	/* Events after the instant do not count. */
	if ((int64_t)((turns->t_ticks - start) << 16) < 0)
		return;
	ck_assert_uint_lt(depth, 2);
	if (!turns->next[depth])
		turns->first[depth] = n;
	else
		ck_assert_uint_eq(n, turns->next[depth]);
	turns->next[depth] = n + 1;
}

/*
 * Spans are in the order of their ends, and open ones come last. Each is
 * there once, from the first on.
 */
static void see_all(struct turns *turns, const struct thread_log *log)
{
	for (size_t at = 0; at < log->n_slots; at += 2) {
		ck_assert_uint_eq(record_n_extra(log->slots[at].word[0]), 1);
		see(turns, record_depth(log->slots[at].word[0]),
			log->slots[at].word[0] & RECORD_START_MASK, log->slots[at + 1].word[1]);
	}
	for (uint32_t i = 0; i < log->n_open; i++) {
		ck_assert_uint_eq(log->open[i].n_slots, 1);
		see(turns, log->open[i].depth, log->open[i].start & RECORD_START_MASK,
			log->open[i].slots[0].word[1]);
	}
}

static bool look_at_spans(uint32_t i)
{
	struct drain_budget budget = {.max_bytes = 1u << 30};
	struct turns turns = {.t_ticks = ring_picture_now(TICKS_ARE_READABLE).ticks};
	struct thread_log log = {.tid = 0};
	bool has_seen;

	if (ring_picture_take(&fixture.target, i, word, &budget, &log) == 0) {
		see_all(&turns, &log);
		/*
		 * An inner span needs an outer one, but the outer one may be
		 * open without an inner one.
		 */
		if (turns.next[1]) {
			ck_assert_uint_ge(turns.next[0], turns.next[1]);
			ck_assert_uint_le(turns.next[0], turns.next[1] + 1);
		}
	}
	has_seen = turns.next[1] != 0;
	free(log.slots);
	free(log.open);
	return has_seen;
}

START_TEST(each_picture_has_every_span_of_its_instant_once)
{
	int64_t start_ns = monotonic_ns();
	int n_seen = 0;

	open_rings(FIXTURE_RING_BYTES << _i);
	start_writers(write_spans);
	while (!is_over(start_ns))
		for (uint32_t i = 0; i < N_WRITERS; i++)
			n_seen += look_at_spans(i);
	stop_writers();
	ck_assert_int_gt(n_seen, 0);
	fixture_close();
}
END_TEST

/* --- a capture meanwhile ---------------------------------------------------------------------- */

static void check_log(const struct thread_log *log)
{
	uint64_t next = 0;

	for (size_t at = 0; at < log->n_slots;) {
		size_t size = 1 + record_n_extra(log->slots[at].word[0]);
		uint64_t ordinal = entry_get_ordinal(&log->slots[at]);

		ck_assert_uint_ge(ordinal, next);
		ck_assert_uint_le(size, log->n_slots - at);
		ck_assert_int_eq(entry_count(&log->slots[at], size, ordinal), 1);
		next = ordinal + 1;
		at += size;
	}
}

static uint64_t count_entries(const struct thread_log *log)
{
	uint64_t n = 0;

	for (size_t at = 0; at < log->n_slots; at += 1 + record_n_extra(log->slots[at].word[0]))
		n++;
	return n;
}

static void visit_for_a_while(int changes_mode)
{
	int64_t start_ns = monotonic_ns();
	bool overwrites = true;
	unsigned n_visits = 0;

	while (!is_over(start_ns)) {
		drained_visit();
		if (++n_visits % 4 == 0)
			sched_yield();
		if (changes_mode && n_visits % 16 == 0)
			fixture_overwrite(overwrites = !overwrites);
	}
}

/*
 * The capture begins before the writers' first entry, so that all entries can be counted. If |_i|,
 * the rings' mode also changes to and fro.
 */
START_TEST(a_capture_of_a_flood_counts_missed_records)
{
	uint64_t n_found = 0;
	uint64_t n_emitted;
	uint64_t n_written;

	open_rings(FIXTURE_RING_BYTES);
	drained_init();
	drained.budget.max_bytes = UINT64_C(1) << 30;
	drain_begin(&drained.drain, word);
	start_writers(write_entries);
	visit_for_a_while(_i);
	stop_writers();
	drained_finish();
	ck_assert_uint_eq(drained.drain.n_logs, N_WRITERS);
	for (size_t i = 0; i < N_WRITERS; i++) {
		const struct thread_log *log = drained.drain.logs[i];

		check_log(log);
		n_found += count_entries(log) + log->lost[LOSS_FULL];
		ck_assert_uint_eq(log->lost_memory, 0);
	}
	n_written = count_written(&n_emitted);
	ck_assert_uint_eq(n_found, n_emitted);
	ck_assert_uint_le(n_written, n_emitted);
	ck_assert_uint_eq(drained.drain.n_broken, 0);
	drained_teardown();
}
END_TEST

/* The capture begins while the threads write. */
START_TEST(a_capture_over_a_flood_knows_where_it_began)
{
	uint64_t before[N_WRITERS];
	uint64_t n_written = 0;
	uint64_t n_emitted;
	int error = 0;

	open_rings(FIXTURE_RING_BYTES);
	drained_init();
	start_writers(write_entries);
	while (!have_all_written(FIXTURE_SLOTS))
		sched_yield();
	drain_reset_rings(&drained.drain);
	drain_begin_over(&drained.drain, word, &error);
	ck_assert_uint_eq(drained.drain.n_logs, N_WRITERS);
	for (size_t i = 0; i < N_WRITERS; i++)
		before[i] = drained.drain.logs[i]->ordinal;
	visit_for_a_while(0);
	stop_writers();
	drained_finish();
	for (size_t i = 0; i < N_WRITERS; i++) {
		const struct thread_log *log = drained.drain.logs[i];

		check_log(log);
		ck_assert(log->n_slots == 0 || entry_get_ordinal(log->slots) >= before[i]);
		/* A fast machine writes more than memory can hold. */
		ck_assert_uint_eq(
			before[i] + count_entries(log) + log->n_overwritten + log->lost_memory,
			log->ordinal);
		n_written += log->ordinal;
	}
	ck_assert_uint_eq(n_written, count_written(&n_emitted));
	ck_assert_uint_eq(drained.drain.n_broken, 0);
	ck_assert_int_eq(error, 0);
	drained_teardown();
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(no_picture_has_a_torn_entry, 3),
	UNIT_LOOP(each_picture_has_every_span_of_its_instant_once, 2),
	UNIT_LOOP(a_capture_of_a_flood_counts_missed_records, 2),
	UNIT_TEST(a_capture_over_a_flood_knows_where_it_began),
	{NULL},
};

UNIT_MAIN("ring_flood", .timeout_s = 60, .tests = tests)
