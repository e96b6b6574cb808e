/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a recording that stops while its thread is in the middle of an annotation's code: it
 * has read the word only. The test itself does the rest of the annotation, at each place within
 * the last read of the rings.
 * Each event becomes a record or an open span, or counts as lost, and never two of these. Linked
 * with -Wl,--wrap of the functions of that read.
 */
#include "daemon/pipeline/drain/drain.h"

#include <check.h>
#include <proftap/proftap.h>

#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/target/open_stack.h"
#include "daemon/target/ring_copy.h"
#include "tests/unit/drain_fixture.h"
#include "tests/unit/unit.h"

#define MAX_PLACES 100

static void (*rest)(void);
static int n_until; /* the place at which |rest| runs */
static int n_places;

/* Runs |rest| at its place: the thread read the word before the recording stopped. */
static void be_at_a_place(void)
{
	if (n_places++ != n_until)
		return;
	fixture_publish(drained.drain.word);
	rest();
	fixture_publish(0);
}

#define PLACE_IN(result, name, parameters, arguments) \
	result __real_##name parameters;              \
	result __wrap_##name parameters;              \
	result __wrap_##name parameters               \
	{                                             \
		be_at_a_place();                      \
		return __real_##name arguments;       \
	}

/* clang-format off */
PLACE_IN(int, ring_copy_begin,
	(struct ring_copy *c, const struct target *t, uint32_t i, struct ring_place from), (c, t, i, from))
PLACE_IN(int, ring_copy_finish, (struct ring_copy *c), (c))
PLACE_IN(uint32_t, open_stack_get_depth, (const struct ring *ring), (ring))
PLACE_IN(uint32_t, open_stack_read,
	(struct ring *ring, uint32_t depth, struct open_span *to, struct open_drop *drop), (ring, depth, to, drop))
PLACE_IN(void, thread_log_copy_identity, (struct thread_log *log, struct ring *ring), (log, ring))
PLACE_IN(void, thread_log_drop_ended,
	(struct thread_log *log, uint64_t word0, uint64_t position), (log, word0, position))
/* clang-format on */

static void begin_two(void)
{
	PTAP_BEGIN("outer");
	PTAP_BEGIN("inner");
}

static void begin_with_arguments(void)
{
	PTAP_BEGIN("outer");
	ptap_begin_step_dyn("a step with a name that takes some room", 4);
}

static void end(void)
{
	PTAP_END();
}

/* Fills the ring, so that nothing more fits before the ring is read. */
static void begin_in_a_full_ring(void)
{
	begin_two();
	while (fixture_head(0) - atomic_load(&drained.ring->tail) < FIXTURE_SLOTS)
		PTAP_INSTANT("filling");
}

static struct ptap_impl_site site = {0, {0}, "around"};
static struct ptap_impl_token around;

static void begin_around(void)
{
	around = ptap_impl_begin(&site, ptap_impl_word());
	begin_two();
}

/* Ends like a thread after a longjmp. */
static void end_around(void)
{
	ptap_impl_end(around);
}

static void begin_around_in_a_full_ring(void)
{
	begin_around();
	while (fixture_head(0) - atomic_load(&drained.ring->tail) < FIXTURE_SLOTS)
		PTAP_INSTANT("filling");
}

/* Ends a span; the capture is over, but the flight recorder still records the thread. */
static void end_and_go_on(void)
{
	PTAP_INSTANT("before");
	PTAP_END();
	for (int i = 0; i < 20; i++)
		PTAP_INSTANT("behind");
}

static const struct {
	void (*before)(void);
	void (*rest)(void);
	uint64_t n_emitted;
} stops[] = {
	{begin_two, end, 2},
	{begin_with_arguments, end, 2},
	{begin_two, end_and_go_on, 2},
	{begin_in_a_full_ring, end, 2},
	{begin_around, end_around, 3},
	{begin_around_in_a_full_ring, end_around, 3},
};

static uint64_t count_spans(const struct thread_log *log)
{
	uint64_t n = 0;

	for (size_t at = 0; at < log->n_slots; at += 1 + record_n_extra(log->slots[at].word[0]))
		n += record_kind(log->slots[at].word[0]) != RECORD_INSTANT;
	return n;
}

static void check_log(uint64_t n_emitted)
{
	const struct thread_log *log = drained.drain.logs[0];
	uint64_t n_records = count_spans(log);
	uint64_t n_lost = log->lost[LOSS_FULL] + log->lost[LOSS_LEFT_OPEN];

	ck_assert_msg(n_records + log->n_open + n_lost == n_emitted,
		"%d: %d records, %d open spans and %d lost ones of %d", n_until, (int)n_records,
		(int)log->n_open, (int)n_lost, (int)n_emitted);
}

static void begin_anew(void)
{
	drain_deinit(&drained.drain);
	drained_init();
	drained_start();
}

/* Returns whether the read reached the place |at|. */
static bool stop_at(int i, int at)
{
	begin_anew();
	stops[i].before();
	fixture_publish(0);
	rest = stops[i].rest;
	n_places = 0;
	n_until = at;
	drained_finish();
	check_log(stops[i].n_emitted);
	return n_places > at;
}

START_TEST(records_written_during_the_stop_are_there_once)
{
	int at = 0;

	while (stop_at(_i, at))
		ck_assert_int_lt(++at, MAX_PLACES);
	ck_assert_int_gt(at, 5);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(records_written_during_the_stop_are_there_once, sizeof stops / sizeof stops[0]),
	{NULL},
};

FIXTURE_MAIN_BOTH_WAYS("drain_stop", drained_setup, drained_teardown, tests)
