/* SPDX-License-Identifier: Apache-2.0 */
/* Tests triggers of the flight recorder, with entries that a thread writes into its ring. */
#include "daemon/pipeline/drain/triggers.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/pipeline/drain/trigger_watch.h"
#include "lib/record/emit.h"
#include "tests/unit/entry_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

#define US UINT64_C(1000)

static struct triggers triggers;
static uint32_t word;
static uint32_t decode_id;
static int64_t now_ns;

static int set(const char *const *options, size_t n, struct diag *d)
{
	struct profile_options o;
	int r = 0;

	profile_options_init(&o);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(profile_options_parse(&o, options[i], d), 0);
	r = triggers_init(&triggers, &o, d);
	profile_options_deinit(&o);
	return r;
}

static void begin(double ns_per_tick, const char *one, const char *other)
{
	const char *const options[] = {one, other};
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(set(options, other ? 2 : 1, &d), 0);
	now_ns = NS_PER_S;
	triggers_set_clock(&triggers, now_ns, ns_per_tick);
	ck_assert_int_eq(trigger_watch_open(&fixture.target, &triggers, 0), 0);
}

/* Begins with a trigger for spans "decode" longer than 100 us. */
static void begin_decode(void)
{
	begin(1, "ptap_trigger_span=decode:100us", NULL);
}

/* Starts a recording that includes the ring's thread. */
static void enter(void)
{
	word = fixture_start(1);
	atomic_store(&fixture.arena->word, word);
	entry_enter(word);
}

static void setup(void)
{
	fixture_open();
	fixture_overwrite(true);
	decode_id = fixture_add_string("decode");
	enter();
}

static void teardown(void)
{
	trigger_watch_close(&fixture.target);
	triggers_deinit(&triggers);
	fixture_close();
}

static void put(
	enum record_kind kind, uint32_t id, uint64_t duration, const struct slot *slots, uint32_t n)
{
	struct ring *ring = ring_begin(word);

	ck_assert_ptr_nonnull(ring);
	ring_emit(ring, thread_self.word, record_word0(1, kind, 0, n), record_word1(duration, id),
		slots, n);
	ring_end();
}

static void put_span(uint32_t id, uint64_t duration)
{
	put(RECORD_SPAN, id, duration, NULL, 0);
}

static void put_number(enum record_kind kind, uint32_t id, uint64_t duration, int64_t number)
{
	struct slot slot = {{slot_word0(0, SLOT_I64, 0), (uint64_t)number}};

	put(kind, id, duration, &slot, 1);
}

static void put_step(uint64_t duration)
{
	put_number(RECORD_STEP, fixture_add_string("train"), duration, 41);
}

/*
 * Reads the ring, and returns the trigger that fired, or "". The trigger's run counts as written
 * afterwards.
 */
static const char *find_reason(void)
{
	static char reason[TRIGGERS_REASON_BYTES];

	trigger_watch_visit(&fixture.target, 0);
	reason[0] = '\0';
	if (triggers.reason[0])
		triggers_take(&triggers, reason, sizeof reason);
	return reason;
}

static void expect(const char *said)
{
	ck_assert_str_eq(find_reason(), said);
}

/* Expects that a "decode" of more than |us| is reported. */
static void expect_decode(unsigned us)
{
	char said[TRIGGERS_REASON_BYTES];

	put_span(decode_id, us * US);
	snprintf(said, sizeof said, "span decode took %u us, more than 100 us", us);
	expect(said);
}

static void pass(int64_t ms)
{
	now_ns += ms * NS_PER_MS;
	triggers_set_clock(&triggers, now_ns, triggers.ns_per_tick);
}

START_TEST(a_span_fires_beyond_its_bound)
{
	begin(1, "ptap_trigger_span=decode:100us;encode:1us", NULL);
	put_span(fixture_add_string("decoder"), 900 * US);
	put_span(fixture_add_string("decod"), 900 * US);
	put_span(decode_id, 100 * US);
	expect("");
	put_span(decode_id, 100 * US + 1);
	expect("span decode took 100 us, more than 100 us");
	expect("");
	pass(60000);
	/* The name comes from another place in the source. */
	put_span(fixture_add_string("decode"), 153 * NS_PER_MS);
	expect("span decode took 153 ms, more than 100 us");
	pass(60000);
	/* Triggers treat a step like a span. */
	put_number(RECORD_STEP, decode_id, 2 * NS_PER_S, 1);
	expect("span decode took 2 s, more than 100 us");
}
END_TEST

START_TEST(bounds_are_in_time_and_not_in_ticks)
{
	begin(0.5, "ptap_trigger_span=decode:100us", NULL);
	put_span(decode_id, 200 * US);
	expect("");
	put_span(decode_id, 500 * US);
	expect("span decode took 250 us, more than 100 us");
}
END_TEST

START_TEST(names_at_run_time_are_compared_too)
{
	struct slot name = {{slot_word0(0, SLOT_NAME, 6), 0}};

	begin_decode();
	memcpy(&name.word[1], "encode", 6);
	put(RECORD_SPAN, STRING_ID_DYNAMIC, 101 * US, &name, 1);
	expect("");
	memcpy(&name.word[1], "decode", 6);
	put(RECORD_SPAN, STRING_ID_DYNAMIC, 101 * US, &name, 1);
	expect("span decode took 101 us, more than 100 us");
}
END_TEST

/*
 * A duration beyond a record's range is in a slot of its own. If only the limit is beyond the
 * range, the record's own duration is shorter.
 */
START_TEST(a_span_may_take_an_hour)
{
	struct slot duration = {{slot_word0(0, SLOT_DURATION, 0), 3600 * (uint64_t)NS_PER_S}};

	begin(1, "ptap_trigger_span=decode:3600s", NULL);
	put(RECORD_SPAN, decode_id, RECORD_DURATION_MASK, &duration, 1);
	expect("");
	duration.word[1]++;
	put(RECORD_SPAN, decode_id, RECORD_DURATION_MASK, &duration, 1);
	expect("span decode took 3600 s, more than 3600 s");
}
END_TEST

START_TEST(a_step_fires_beyond_its_multiple)
{
	begin(1, "ptap_trigger_step=2.5", NULL);
	put_step(900 * US);
	for (int i = 0; i < 6; i++)
		put_step(20 * US);
	put_step(900 * US);
	/* Now there are eight steps. */
	put_step(50 * US);
	put_span(decode_id, 900 * US);
	expect("");
	put_step(80 * US);
	expect("step 41 took 80 us, 4.0 times the usual 20 us");
}
END_TEST

START_TEST(counters_fire_on_their_side_of_a_bound)
{
	struct slot number = {{slot_word0(0, SLOT_F64, 0), 0}};
	double value = -0.75;

	begin(1, "ptap_trigger_counter=queue>1000;load<-0.5", NULL);
	memcpy(&number.word[1], &value, sizeof value);
	put_number(RECORD_COUNTER, decode_id, 0, 5000);
	put_number(RECORD_COUNTER, fixture_add_string("queue"), 0, 1000);
	put_number(RECORD_COUNTER, fixture_add_string("queue"), 0, -5000);
	put_number(RECORD_INSTANT, fixture_add_string("queue"), 0, 5000);
	expect("");
	put_number(RECORD_COUNTER, fixture_add_string("queue"), 0, 1042);
	expect("counter queue was 1042, more than 1000");
	pass(60000);
	put_number(RECORD_COUNTER, fixture_add_string("load"), 0, 0);
	expect("");
	put(RECORD_COUNTER, fixture_add_string("load"), 0, &number, 1);
	expect("counter load was -0.75, less than -0.5");
}
END_TEST

START_TEST(one_trigger_fires_in_an_interval)
{
	begin(1, "ptap_trigger_span=decode:100us;encode:1us", "ptap_trigger_interval_ms=2000");
	put_span(decode_id, 200 * US);
	put_span(decode_id, 300 * US);
	expect("span decode took 200 us, more than 100 us");
	put_span(fixture_add_string("encode"), 200 * US);
	pass(1999);
	expect("");
	pass(1);
	expect("");
	put_span(decode_id, 400 * US);
	expect("span decode took 400 us, more than 100 us; 1 more since the last run; also 1 of span encode");
	pass(2000);
	expect_decode(500);
}
END_TEST

/* The 62 samples of a queue do not count for the other counter. */
START_TEST(each_trigger_is_counted_apart)
{
	begin(1, "ptap_trigger_span=decode:100us", "ptap_trigger_counter=queue>20;load<1");
	put_span(decode_id, 200 * US);
	expect("span decode took 200 us, more than 100 us");
	for (int i = 0; i < 62; i++)
		put_number(RECORD_COUNTER, fixture_add_string("queue"), 0, 21);
	put_number(RECORD_COUNTER, fixture_add_string("load"), 0, 0);
	expect("");
	pass(60000);
	put_span(decode_id, 200 * US);
	expect("span decode took 200 us, more than 100 us; also 62 of counter queue, 1 of counter load");
	pass(60000);
	put_span(decode_id, 200 * US);
	expect("span decode took 200 us, more than 100 us");
}
END_TEST

/* The condition occurs again and again while the first run is not written yet. */
START_TEST(waiting_trigger_is_not_overwritten)
{
	char words[160];

	begin_decode();
	triggers_describe_unwritten(&triggers, words, sizeof words);
	ck_assert_str_eq(words, "");
	put_span(decode_id, 200 * US);
	trigger_watch_visit(&fixture.target, 0);
	triggers_describe_unwritten(&triggers, words, sizeof words);
	ck_assert_str_eq(words, "triggers that have no run of their own, since the last run: 1");
	put_span(decode_id, 300 * US);
	pass(120000);
	expect("span decode took 200 us, more than 100 us");
	ck_assert_uint_eq(triggers.n_suppressed[0], 1);
	put_span(decode_id, 300 * US);
	expect("");
	triggers_describe_unwritten(&triggers, words, sizeof words);
	ck_assert_str_eq(words, "triggers that have no run of their own, since the last run: 2");
}
END_TEST

START_TEST(sees_spans_that_were_not_overwritten)
{
	uint32_t n = 0;

	begin_decode();
	put_span(decode_id, 200 * US);
	while (fixture_head(0) < 5 * FIXTURE_SLOTS / 2)
		n += (uint32_t)entry_write(word, n, n % RECORD_MAX_EXTRA);
	put_span(decode_id, 300 * US);
	ck_assert_uint_eq(trigger_watch_visit(&fixture.target, 0), TRIGGER_WATCH_OUTRUN);
	expect("span decode took 300 us, more than 100 us");
	ck_assert_uint_eq(triggers.n_suppressed[0], 0);
	ck_assert_uint_eq(trigger_watch_visit(&fixture.target, 0), 0);
	for (uint32_t i = 0; i < FIXTURE_SLOTS / 2; i++)
		put_span(decode_id, 100 * US);
	ck_assert_uint_eq(trigger_watch_visit(&fixture.target, 0), 500);
}
END_TEST

/* Entries have all lengths, so some lie across the end of a piece. */
START_TEST(a_full_ring_is_read_in_pieces_without_gaps)
{
	const struct slot extra[RECORD_MAX_EXTRA] = {{{0, 0}}};
	uint32_t n = 0;

	begin_decode();
	for (; fixture_head(0) < FIXTURE_SLOTS - 2 * RECORD_MAX_EXTRA; n++)
		put(RECORD_SPAN, decode_id, 200 * US, extra, n % RECORD_MAX_EXTRA);
	trigger_watch_visit(&fixture.target, 0);
	ck_assert_uint_eq(triggers.n_suppressed[0] + 1, n);
	ck_assert_uint_le(triggers.n_slots_allocated, FIXTURE_SLOTS / RING_SEGMENTS * 2);
}
END_TEST

START_TEST(older_records_are_ignored)
{
	put_span(decode_id, 200 * US);
	begin_decode();
	trigger_watch_close(&fixture.target);
	ck_assert_int_eq(trigger_watch_open(&fixture.target, &triggers, 1), 0);
	expect("");
	expect_decode(300);
}
END_TEST

START_TEST(other_recordings_are_of_no_interest)
{
	begin_decode();
	put_span(decode_id, 200 * US);
	atomic_store(&fixture.arena->word, word + 4);
	expect("");
	enter();
	expect_decode(300);
}
END_TEST

START_TEST(the_last_of_a_thread_is_seen_before_its_ring_is_free)
{
	begin_decode();
	put_span(decode_id, 200 * US);
	rings_free(&fixture.target, 0);
	ck_assert_str_eq(triggers.reason, "span decode took 200 us, more than 100 us");
}
END_TEST

START_TEST(number_of_triggers_is_bounded)
{
	char many[64 * TRIGGERS_MAX] = "ptap_trigger_counter=";
	const char *const options[] = {"ptap_trigger_span=decode:100us", many};
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(set(NULL, 0, &d), 0);
	ck_assert_int_eq(triggers_are_set(&triggers), 0);
	for (uint32_t i = 0; i < TRIGGERS_MAX - 1; i++)
		strcat(many, i ? ";a>1" : "a>1");
	ck_assert_int_eq(set(options, 2, &d), 0);
	ck_assert_int_eq(triggers_are_set(&triggers), 1);
	triggers_deinit(&triggers);
	strcat(many, ";a>1");
	ck_assert_int_eq(set(options, 2, &d), -EINVAL);
	ck_assert_str_eq(
		d.text, "ptap_trigger_span, ptap_trigger_counter: more than 31 triggers in all");
	ck_assert_int_eq(triggers_are_set(&triggers), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_span_fires_beyond_its_bound),
	UNIT_TEST(bounds_are_in_time_and_not_in_ticks),
	UNIT_TEST(names_at_run_time_are_compared_too),
	UNIT_TEST(a_span_may_take_an_hour),
	UNIT_TEST(a_step_fires_beyond_its_multiple),
	UNIT_TEST(counters_fire_on_their_side_of_a_bound),
	UNIT_TEST(one_trigger_fires_in_an_interval),
	UNIT_TEST(each_trigger_is_counted_apart),
	UNIT_TEST(waiting_trigger_is_not_overwritten),
	UNIT_TEST(sees_spans_that_were_not_overwritten),
	UNIT_TEST(a_full_ring_is_read_in_pieces_without_gaps),
	UNIT_TEST(older_records_are_ignored),
	UNIT_TEST(other_recordings_are_of_no_interest),
	UNIT_TEST(the_last_of_a_thread_is_seen_before_its_ring_is_free),
	UNIT_TEST(number_of_triggers_is_bounded),
	{NULL},
};

UNIT_MAIN("triggers", .set_up = setup, .tear_down = teardown, .tests = tests)
