/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the open spans that the server reads of a running program, and of one
 * whose memory is full of noise.
 */
#include "daemon/serve/message/open_spans.h"

#include <check.h>
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/thread_list.h"
#include "daemon/target/open_stack.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct listed_thread self;
static struct open_spans spans;

static void setup(void)
{
	uint32_t word;

	fixture_open();
	word = fixture_start(3);
	/* The control thread leaves the words in this state. */
	atomic_store(&fixture.arena->word, word);
	atomic_store(&fixture.arena->guest, 1);
	self = (struct listed_thread){
		.tid = gettid(), .inner_tid = gettid(), .state = 'S', .syscall = -1};
	strcpy(self.name, "main");
}

static void teardown(void)
{
	open_spans_deinit(&spans);
	fixture_close();
}

static const Proftap__V1__ProcessSpans *read_spans(void)
{
	const struct open_spans_list list = {.pid = getpid(), .v = &self, .n = 1};
	struct clock_pair first = clock_pair_read(1);
	struct open_spans_clock clock;

	open_spans_clock_read(&clock, &first, 1);
	open_spans_deinit(&spans);
	open_spans_init(&spans, &clock);
	open_spans_add(&spans, &fixture.target, &list, "recorder", 3);
	ck_assert_int_eq(spans.error, 0);
	ck_assert_uint_eq(spans.reply.n_processes, 1);
	return spans.reply.processes[0];
}

START_TEST(open_spans_have_arguments_and_ages)
{
	const Proftap__V1__ProcessSpans *p;
	const Proftap__V1__OpenSpan *span;

	PTAP_SPAN_ARGS(
		"outer", PTAP_I("i", -3), PTAP_U("u", 4), PTAP_F("f", 0.25), PTAP_S("s", "a\tb"));
	{
		PTAP_SPAN("ended");
	}
	PTAP_STEP("step", 9);
	p = read_spans();
	ck_assert_uint_eq(p->n_threads, 1);
	ck_assert_uint_eq(p->threads[0]->n_spans, 2);
	ck_assert(!p->threads[0]->is_moving);
	span = p->threads[0]->spans[0];
	ck_assert_str_eq(span->name, "outer");
	ck_assert_uint_eq(span->n_arguments, 4);
	ck_assert_int_eq(span->arguments[0]->int64, -3);
	ck_assert_uint_eq(span->arguments[1]->uint64, 4);
	ck_assert_double_eq(span->arguments[2]->double_, 0.25);
	/* No character can move a terminal's cursor. */
	ck_assert_str_eq(span->arguments[3]->text, "a?b");
	ck_assert_uint_ge(span->age_ns, 2 * NS_PER_MS);
	span = p->threads[0]->spans[1];
	ck_assert_str_eq(span->name, "step");
	ck_assert(span->is_step);
	ck_assert_int_eq(span->step_number, 9);
	ck_assert_uint_le(span->age_ns, p->threads[0]->spans[0]->age_ns);
}
END_TEST

/* The thread's ring belongs to the recording before. */
START_TEST(a_thread_that_is_not_in_this_recording_has_none)
{
	PTAP_SPAN("old");
	ck_assert_uint_eq(read_spans()->threads[0]->n_spans, 1);
	atomic_store(&fixture.arena->word, fixture_start(3));
	ck_assert_uint_eq(read_spans()->threads[0]->n_spans, 0);
}
END_TEST

START_TEST(an_impossible_depth_has_no_spans)
{
	PTAP_SPAN("one");
	atomic_store(&fixture_ring(0)->depth, RECORD_MAX_DEPTH + 1);
	ck_assert_uint_eq(read_spans()->threads[0]->n_spans, 0);
	atomic_store(&fixture_ring(0)->depth, 1);
}
END_TEST

/* Entries that were never written look torn. They are left out, and the answer is marked. */
START_TEST(a_torn_entry_is_marked)
{
	PTAP_SPAN("one");
	atomic_store(&fixture_ring(0)->depth, 3);
	ck_assert_uint_eq(read_spans()->threads[0]->n_spans, 1);
	ck_assert(spans.reply.processes[0]->threads[0]->is_moving);
	atomic_store(&fixture_ring(0)->depth, 1);
}
END_TEST

START_TEST(a_frame_with_too_many_slots_is_left_out)
{
	PTAP_SPAN_ARGS("one", PTAP_I("i", 1));
	atomic_store(&ring_frame(fixture_ring(0), 0)->n_slots, RECORD_MAX_EXTRA + 1);
	ck_assert_uint_eq(read_spans()->threads[0]->n_spans, 0);
	ck_assert(spans.reply.processes[0]->threads[0]->is_moving);
	atomic_store(&ring_frame(fixture_ring(0), 0)->n_slots, 1);
}
END_TEST

/* |seed| selects the noise in a ring's head and frames, and in the string table. */
START_TEST(survives_noise)
{
	struct ring *ring = fixture_ring(0);
	uint32_t word = atomic_load(&fixture.arena->word);
	size_t n = RING_PAGE_BYTES + RING_FRAMES_BYTES;
	uint8_t *bytes = (uint8_t *)ring;

	srandom((unsigned)_i + 1);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)random();
	for (size_t i = 0; i < 1 << 16; i++)
		arena_strings(fixture.arena)[i] = (char)random();
	atomic_store(&fixture.arena->strings_used, (uint32_t)random());
	atomic_store(&fixture.arena->ring_state[0], RING_USED);
	atomic_store(&ring->word, word);
	atomic_store(&ring->tid, gettid());
	atomic_store(&ring->depth, RECORD_MAX_DEPTH);
	read_spans();
	ck_assert_uint_gt(protobuf_c_message_get_packed_size(&spans.reply.base), 0);
	ck_assert_uint_le(spans.n_bytes, 4u << 20);
}
END_TEST

static _Atomic int is_over;

static void *begin_and_end(void *unused)
{
	while (!atomic_load(&is_over)) {
		PTAP_SPAN_ARGS("a", PTAP_I("n", 1));
		{
			PTAP_SPAN_ARGS("b", PTAP_I("n", 2));
			{
				PTAP_SPAN_ARGS("c", PTAP_I("n", 3));
			}
		}
	}
	return unused;
}

/* A stack not marked as moving existed: "b" in "a", "c" in "b", each with its own argument. */
START_TEST(a_stack_that_changes_is_whole_or_marked)
{
	static struct open_span stack[RECORD_MAX_DEPTH];
	pthread_t thread;
	int n_whole = 0;

	fixture_overwrite(true);
	pthread_create(&thread, NULL, begin_and_end, NULL);
	while (!atomic_load(&fixture_ring(0)->head))
		;
	for (int i = 0; i < 20000 || !n_whole; i++) {
		bool is_moving;
		uint32_t n = open_stack_copy(fixture_ring(0), stack, &is_moving);

		for (uint32_t k = 0; k < n; k++)
			if (stack[k].n_slots)
				ck_assert_int_eq(
					(int)stack[k].slots[0].word[1], (int)stack[k].depth + 1);
		for (uint32_t k = 1; !is_moving && k < n; k++)
			ck_assert_uint_ge(stack[k].start, stack[k - 1].start);
		for (uint32_t k = 0; !is_moving && k < n; k++)
			ck_assert_uint_eq(stack[k].depth, k);
		n_whole += !is_moving;
	}
	atomic_store(&is_over, 1);
	pthread_join(thread, NULL);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(open_spans_have_arguments_and_ages),
	UNIT_TEST(a_thread_that_is_not_in_this_recording_has_none),
	UNIT_TEST(an_impossible_depth_has_no_spans),
	UNIT_TEST(a_torn_entry_is_marked),
	UNIT_TEST(a_frame_with_too_many_slots_is_left_out),
	UNIT_LOOP(survives_noise, 8),
	UNIT_TEST(a_stack_that_changes_is_whole_or_marked),
	{NULL},
};

UNIT_MAIN("open spans, looked at", .set_up = setup, .tear_down = teardown, .tests = tests)
