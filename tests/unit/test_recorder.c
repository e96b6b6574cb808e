/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests ended children of a program with a flight recorder, and whether a recorder has any content.
 * No program answers orders here: linked with -Wl,--wrap of orders_begin, orders_end,
 * orders_start_newcomers and target_hold.
 */
#include "daemon/pipeline/recording/recorder.h"

#include <check.h>
#include <linux/futex.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/pipeline/recording/recording_start.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/family.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

/* The number of children that are kept, and how many more there are. */
#define N_KEPT 64u
#define N_MORE 3u
#define N_CHILDREN (N_KEPT + N_MORE)
#define GUEST_TID 4242u

static struct family family;
static struct recorder recorder;
static struct recording capture;
static struct guest_fixture program;
static struct child *children[N_CHILDREN];

int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d);
int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d)
{
	(void)r;
	(void)op;
	(void)d;
	return 0;
}

int __wrap_orders_end(struct recording *r);
int __wrap_orders_end(struct recording *r)
{
	(void)r;
	return 0;
}

void __wrap_orders_start_newcomers(struct recording *r, size_t first);
void __wrap_orders_start_newcomers(struct recording *r, size_t first)
{
	(void)r;
	(void)first;
}

/* In this test no page of the server is in front of an arena. */
void __wrap_target_hold(struct target *t);
void __wrap_target_hold(struct target *t)
{
	(void)t;
}

static void *emit(void *unused)
{
	PTAP_INSTANT("point");
	return unused;
}

static void emit_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, emit, NULL);
	pthread_join(thread, NULL);
}

/* Makes a process that has recorded one event in a thread, or that has only begun to record. */
static void make_process(int emits)
{
	fixture_open_sized(1, ARENA_MIN_RING_BYTES);
	atomic_store(&fixture.arena->word, fixture_start(1));
	atomic_store(&fixture.arena->guest, GUEST_TID);
	if (emits)
		emit_in_thread();
	fixture_publish(0);
}

static void offer_child(size_t i)
{
	make_process(1);
	children[i] = calloc(1, sizeof *children[i]);
	children[i]->target = fixture.target;
	atomic_store(&children[i]->n_holders, 2);
	family_offer(&family, children[i]);
}

static void join_child(size_t i)
{
	offer_child(i);
	family_meet(&family);
}

static void start(int emits)
{
	const struct recorder_config config = {.level = 1};
	struct diag d = DIAG_INIT;

	fixture_overwrite(true);
	make_process(emits);
	program = fixture;
	family_init(&family, &program.target);
	recorder_init(&recorder, &family);
	ck_assert_int_eq(recorder_start(&recorder, &config, &d), 0);
}

static void set_up(void)
{
	start(1);
	for (size_t i = 0; i < N_CHILDREN; i++)
		join_child(i);
	ck_assert_uint_eq(recorder.recording.n_sources, 1 + N_CHILDREN);
}

static void tend(void)
{
	recorder.due_ns = 0;
	recorder_tend(&recorder, 0);
}

static void kill_children(void)
{
	for (size_t i = 0; i < N_CHILDREN; i++)
		atomic_store(&children[i]->target.arena->guest, FUTEX_OWNER_DIED);
}

START_TEST(last_joined_of_the_ended_children_are_kept)
{
	kill_children();
	tend();
	ck_assert_uint_eq(recorder.recording.n_sources, 1 + N_KEPT);
	for (size_t i = 0; i < N_CHILDREN; i++)
		ck_assert_msg(children[i]->is_recorded == (i >= N_MORE), "child %zu", i);
	ck_assert_uint_eq(recorder.gone.n_overwritten, N_MORE);
	tend();
	ck_assert_uint_eq(recorder.recording.n_sources, 1 + N_KEPT);
}
END_TEST

/* They wait, however many there are, because the snapshot still uses their names. */
START_TEST(ended_children_stay_while_a_snapshot_is_made)
{
	kill_children();
	recorder.is_lent = 1;
	tend();
	ck_assert_uint_eq(recorder.recording.n_sources, 1 + N_CHILDREN);
	ck_assert_uint_eq(recorder.gone.n_overwritten, 0);
	recorder.is_lent = 0;
	tend();
	ck_assert_uint_eq(recorder.recording.n_sources, 1 + N_KEPT);
}
END_TEST

START_TEST(live_children_do_not_count)
{
	kill_children();
	for (size_t i = 0; i < N_MORE; i++)
		atomic_store(&children[i]->target.arena->guest, GUEST_TID);
	tend();
	ck_assert_uint_eq(recorder.recording.n_sources, 1 + N_CHILDREN);
	ck_assert_uint_eq(recorder.gone.n_overwritten, 0);
}
END_TEST

START_TEST(a_quarter_of_the_rings_memory_is_for_threads_that_ended)
{
	tend();
	ck_assert_uint_eq(recorder.ended.max_bytes,
		(1 + N_CHILDREN) * ring_stride_bytes(ARENA_MIN_RING_BYTES) / 4);
}
END_TEST

START_TEST(clock_pairs_of_days_take_no_more_memory)
{
	for (int i = 0; i < 3000; i++)
		tend();
	ck_assert_uint_gt(recorder.recording.timeline.n_pairs, 1000);
	ck_assert_uint_le(recorder.recording.timeline.n_pairs, 2048);
}
END_TEST

static void begin_capture(void)
{
	struct diag d = DIAG_INIT;

	recording_init(&capture, &family, 1u << 20, 0);
	ck_assert_int_eq(recording_arm(&capture, 1, &d), 0);
	ck_assert_int_eq(recording_begin(&capture, 1, &d), 0);
	ck_assert_int_eq(recording_start(&capture, 0), 0);
}

/* After the greeting the child goes on, and may end before the server reads it again. */
START_TEST(child_is_greeted_once_capture_and_recorder_have_joined_it)
{
	begin_capture();
	offer_child(0);
	ck_assert_uint_eq(atomic_load(&children[0]->target.arena->hello), ARENA_HELLO_NONE);
	recording_visit(&capture);
	ck_assert_uint_eq(atomic_load(&children[0]->target.arena->hello), ARENA_HELLO_READY);
	ck_assert_int_eq(children[0]->is_recorded, 1);
	ck_assert_uint_eq(capture.n_sources, 2);
	ck_assert_int_eq(recording_end(&capture), 0);
	recording_deinit(&capture);
	offer_child(1);
	family_meet(&family);
	ck_assert_int_eq(children[1]->is_recorded, 1);
	ck_assert_uint_eq(atomic_load(&children[1]->target.arena->hello), ARENA_HELLO_READY);
}
END_TEST

START_TEST(child_that_ended_before_its_answer_had_begun)
{
	const struct source *child;

	begin_capture();
	offer_child(0);
	atomic_store(&fixture.arena->word, 0);
	atomic_store(&fixture.arena->ack, 1);
	recording_visit(&capture);
	child = capture.sources[1];
	ck_assert_int_eq(child->state, SOURCE_STARTING);
	atomic_store(&fixture.arena->word, fixture_start(1));
	emit_in_thread();
	atomic_store(&children[0]->target.arena->guest, FUTEX_OWNER_DIED);
	recording_visit(&capture);
	ck_assert_int_eq(child->state, SOURCE_ENDED);
	ck_assert_uint_eq(child->drain.n_logs, 1);
	ck_assert_uint_eq(child->drain.logs[0]->n_slots, 1);
	ck_assert_int_eq(recording_end(&capture), 0);
	recording_deinit(&capture);
}
END_TEST

static void start_alone(void)
{
	start(1);
}

/* The recorder's content. */

START_TEST(recorder_that_has_only_begun_has_no_content)
{
	start(0);
	ck_assert_int_eq(recorder_has_content(&recorder), 0);
}
END_TEST

START_TEST(records_of_a_thread_are_content)
{
	start(1);
	ck_assert_int_eq(recorder_has_content(&recorder), 1);
	/* These records are those of an earlier recording. */
	atomic_fetch_add(&program.arena->word, 4);
	ck_assert_int_eq(recorder_has_content(&recorder), 0);
}
END_TEST

START_TEST(open_span_is_content)
{
	struct ring *ring;

	start(1);
	ring = target_ring(&program.target, 0);
	atomic_store(&ring->first, atomic_load(&ring->head));
	ck_assert_int_eq(recorder_has_content(&recorder), 0);
	atomic_store(&ring->depth, 1);
	ck_assert_int_eq(recorder_has_content(&recorder), 1);
}
END_TEST

START_TEST(records_in_a_freed_ring_are_content)
{
	start(0);
	fixture_publish(atomic_load(&program.arena->word));
	emit_in_thread();
	rings_free(&program.target, 0);
	ck_assert_int_eq(recorder_has_content(&recorder), 1);
	ended_threads_drop(recorder.ended_of[0]);
	ck_assert_int_eq(recorder_has_content(&recorder), 0);
}
END_TEST

START_TEST(records_of_a_child_are_content)
{
	start(0);
	join_child(0);
	ck_assert_int_eq(recorder_has_content(&recorder), 1);
}
END_TEST

static const struct unit_test child_tests[] = {
	UNIT_TEST(last_joined_of_the_ended_children_are_kept),
	UNIT_TEST(ended_children_stay_while_a_snapshot_is_made),
	UNIT_TEST(live_children_do_not_count),
	UNIT_TEST(a_quarter_of_the_rings_memory_is_for_threads_that_ended),
	UNIT_TEST(clock_pairs_of_days_take_no_more_memory),
	{NULL},
};

static const struct unit_test capture_tests[] = {
	UNIT_TEST(child_is_greeted_once_capture_and_recorder_have_joined_it),
	UNIT_TEST(child_that_ended_before_its_answer_had_begun),
	{NULL},
};

static const struct unit_test content_tests[] = {
	UNIT_TEST(recorder_that_has_only_begun_has_no_content),
	UNIT_TEST(records_of_a_thread_are_content),
	UNIT_TEST(open_span_is_content),
	UNIT_TEST(records_in_a_freed_ring_are_content),
	UNIT_TEST(records_of_a_child_are_content),
	{NULL},
};

/* No test tears down: each is a process of its own, and its mappings end with it. */
static const struct unit cases[] = {
	{"children", .set_up = set_up, .timeout_s = 30, .tests = child_tests},
	{"beside a capture", .set_up = start_alone, .tests = capture_tests},
	{"content", .tests = content_tests},
	{NULL},
};

UNIT_MAIN_OF("recorder", cases)
