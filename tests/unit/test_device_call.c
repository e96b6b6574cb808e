/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the records that calls into a device's library leave in the ring of the calling thread. */
#include "lib/record/device_call.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/wire/device.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define DEVICE 3
#define CONTEXT 9

static struct ring *ring;
static uint32_t name;

static void setup(void)
{
	fixture_open();
	ring = fixture_ring(0);
	name = fixture_add_string("launch");
	fixture_start(1);
}

static uint64_t begin(uint64_t correlation)
{
	const struct device_call call = {
		.name = name,
		.correlation = correlation,
		.where = launch_where(DEVICE, CONTEXT, 0),
	};

	return device_call_begin(&call);
}

static uint64_t begin_graph(uint64_t correlation, uint32_t graph)
{
	const struct device_call call = {
		.graph = graph,
		.correlation = correlation,
		.where = launch_where(DEVICE, CONTEXT, LAUNCH_IS_GRAPH),
	};

	return device_call_begin(&call);
}

/* Expects a launch at |depth| in the record at |at|, and returns its slots. */
static const struct slot *expect_launch(
	uint64_t at, unsigned depth, unsigned n_extra, uint64_t correlation)
{
	const struct slot *slot = fixture_slot(0, at);

	ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_LAUNCH);
	ck_assert_uint_eq(record_depth(slot->word[0]), depth);
	ck_assert_uint_eq(record_n_extra(slot->word[0]), n_extra);
	ck_assert_uint_eq(slot[1].word[0], slot_word0(0, SLOT_U64, 0));
	ck_assert_uint_eq(slot[1].word[1], correlation);
	ck_assert_uint_eq(launch_device(slot[2].word[1]), DEVICE);
	ck_assert_uint_eq(launch_context(slot[2].word[1]), CONTEXT);
	return slot;
}

START_TEST(a_call_is_a_span_with_its_correlation)
{
	const struct slot *slot;

	{
		PTAP_SPAN("around");
		device_call_end(begin(UINT64_MAX));
	}
	slot = expect_launch(0, 1, 2, UINT64_MAX);
	ck_assert_str_eq(fixture_name_of(slot), "launch");
	ck_assert_uint_eq(fixture_head(0), 4);
	ck_assert_str_eq(fixture_name_of(fixture_slot(0, 3)), "around");
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
}
END_TEST

/* The call has no name. */
START_TEST(a_graphs_launch_has_its_number)
{
	const struct slot *slot;

	device_call_end(begin_graph(5, 77));
	slot = expect_launch(0, 0, 3, 5);
	ck_assert_uint_eq(launch_flags(slot[2].word[1]), LAUNCH_IS_GRAPH);
	ck_assert_uint_eq(slot[3].word[1], 77);
	ck_assert_uint_eq(slot->word[1] >> RECORD_DURATION_BITS, STRING_ID_LOST);
}
END_TEST

START_TEST(calls_nest_and_open_ones_are_on_the_stack)
{
	uint64_t outer = begin(1);
	uint64_t inner = begin(2);
	uint64_t what = atomic_load(&ring->open[1].what);

	ck_assert_uint_eq(atomic_load(&ring->depth), 2);
	ck_assert_uint_eq(what >> 24 & 255u, RECORD_LAUNCH | RING_OPEN_HAS_FRAME);
	device_call_end(inner);
	device_call_end(outer);
	expect_launch(0, 1, 2, 2);
	expect_launch(3, 0, 2, 1);
}
END_TEST

START_TEST(a_node_is_a_point)
{
	const struct slot *slot = fixture_slot(0, 0);

	device_call_note_node(8, 0);
	device_call_note_node(9, 8);
	for (int i = 0; i < 2; i++, slot += 3) {
		ck_assert_uint_eq(record_kind(slot->word[0]), RECORD_NODE);
		ck_assert_uint_eq(record_n_extra(slot->word[0]), 2);
		ck_assert_uint_eq(slot->word[1] >> RECORD_DURATION_BITS, STRING_ID_LOST);
		ck_assert_uint_eq(slot[1].word[1], i ? 9 : 8);
		ck_assert_uint_eq(slot[2].word[1], i ? 8 : 0);
	}
}
END_TEST

START_TEST(nothing_is_recorded_when_off)
{
	uint64_t call;

	fixture_publish(0);
	call = begin(1);
	ck_assert_uint_eq(call, 0);
	device_call_end(call);
	device_call_note_node(1, 0);
	ck_assert_uint_eq(fixture_head(0), 0);
}
END_TEST

/* The recording ends during the call, and perhaps the next one begins. */
START_TEST(a_call_of_another_recording_does_not_end_in_this_one)
{
	uint64_t call = begin(1);
	uint64_t other;

	fixture_publish(0);
	device_call_end(call);
	fixture_start(1);
	device_call_end(call);
	ck_assert_uint_eq(fixture_head(0), 0);
	other = begin(2);
	device_call_end(call);
	ck_assert_uint_eq(fixture_head(0), 0);
	device_call_end(other);
	expect_launch(0, 0, 2, 2);
}
END_TEST

static void *end_it(void *call)
{
	device_call_end(*(uint64_t *)call);
	{
		PTAP_SPAN("mine");
		device_call_end(*(uint64_t *)call);
	}
	return NULL;
}

/* The other thread may have a ring or none. */
START_TEST(another_thread_ends_nothing)
{
	uint64_t call = begin(1);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, end_it, &call), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	ck_assert_uint_eq(fixture_head(1), 1);
	ck_assert_uint_eq(record_kind(fixture_ring(1) ? ring_data(fixture_ring(1))->word[0] : 0),
		RECORD_SPAN);
	device_call_end(call);
	expect_launch(0, 0, 2, 1);
}
END_TEST

START_TEST(a_forked_child_records_nothing)
{
	uint64_t call;
	int status;
	pid_t pid;

	ck_assert_int_eq(fixture_wipe_on_fork(), 0);
	call = begin(1);
	pid = fork();
	if (!pid) {
		device_call_end(call);
		device_call_end(begin(2));
		device_call_note_node(1, 0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(fixture_head(0), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
	device_call_end(call);
	expect_launch(0, 0, 2, 1);
}
END_TEST

/*
 * The child joins by an annotation, because a device call is in the middle of somebody else's code.
 */
START_TEST(a_followed_child_does_not_join_by_a_device_call)
{
	fixture_publish(UINT32_MAX);
	ck_assert_uint_eq(begin(1), 0);
	device_call_note_node(1, 0);
	ck_assert_uint_eq(fixture_head(0), 0);
}
END_TEST

START_TEST(tokens_that_make_no_sense_end_nothing)
{
	uint64_t call = begin(1);

	device_call_end(0);
	device_call_end(UINT64_MAX);
	device_call_end(call & ~(uint64_t)UINT32_MAX);
	device_call_end((call & ~(uint64_t)UINT32_MAX) | 0xffffffffu);
	device_call_end(call + 1);
	ck_assert_uint_eq(fixture_head(0), 0);
	ck_assert_uint_eq(atomic_load(&ring->depth), 1);
}
END_TEST

/* A dropped call counts as a loss of the open span, and closes no other span. */
START_TEST(a_call_that_finds_the_ring_full_is_counted)
{
	uint32_t n = 0;

	while (!fixture_lost(0, LOSS_FULL)) {
		ck_assert_uint_ne(ring->open[0].what >> 24 & 255u, RING_OPEN_DROPPED);
		device_call_end(begin(1));
		ck_assert_uint_eq(atomic_load(&ring->depth), 0);
		n++;
	}
	ck_assert_uint_eq(n, FIXTURE_SLOTS / 3 + 1);
	ck_assert_uint_eq(fixture_lost(0, LOSS_FULL), 1);
	ck_assert_uint_eq(ring->open[0].what >> 24 & 255u, RING_OPEN_DROPPED);
	fixture_empty(0);
	device_call_end(begin(2));
	ck_assert_uint_eq(fixture_head(0), FIXTURE_SLOTS / 3 * 3 + 3);
	ck_assert_uint_eq(fixture_slot(0, FIXTURE_SLOTS / 3 * 3 + 1)->word[1], 2);
}
END_TEST

START_TEST(a_call_beyond_the_deepest_is_counted)
{
	uint64_t calls[RECORD_MAX_DEPTH];

	for (uint32_t i = 0; i < RECORD_MAX_DEPTH; i++)
		ck_assert_uint_ne(calls[i] = begin(i), 0);
	ck_assert_uint_eq(begin(1), 0);
	ck_assert_uint_eq(fixture_lost(0, LOSS_DEPTH), 1);
	for (uint32_t i = RECORD_MAX_DEPTH; i-- > 0;)
		device_call_end(calls[i]);
	ck_assert_uint_eq(atomic_load(&ring->depth), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_call_is_a_span_with_its_correlation),
	UNIT_TEST(a_graphs_launch_has_its_number),
	UNIT_TEST(calls_nest_and_open_ones_are_on_the_stack),
	UNIT_TEST(a_node_is_a_point),
	UNIT_TEST(nothing_is_recorded_when_off),
	UNIT_TEST(a_call_of_another_recording_does_not_end_in_this_one),
	UNIT_TEST(another_thread_ends_nothing),
	UNIT_TEST(a_forked_child_records_nothing),
	UNIT_TEST(a_followed_child_does_not_join_by_a_device_call),
	UNIT_TEST(tokens_that_make_no_sense_end_nothing),
	UNIT_TEST(a_call_that_finds_the_ring_full_is_counted),
	UNIT_TEST(a_call_beyond_the_deepest_is_counted),
	{NULL},
};

FIXTURE_MAIN_BOTH_WAYS("device call", setup, fixture_close, tests)
