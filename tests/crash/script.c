/* SPDX-License-Identifier: Apache-2.0 */
/* The acts; see script.h. */
#include "tests/crash/script.h"

#include <check.h>
#include <proftap/proftap.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/ticks.h"
#include "daemon/timeline.h"
#include "tests/crash/inside.h"
#include "tests/unit/guest_fixture.h"

#define LONG_TICKS (UINT64_C(1) << 41)

struct stage *stage;

static struct ptap_impl_token outer;
static struct ptap_impl_token inner;
static struct ptap_impl_token ended;

uint64_t script_now(void)
{
	return stage->clock == ARENA_CLOCK_TICKS ? ticks_read() : (uint64_t)monotonic_ns();
}

static struct ring *ring(void)
{
	return fixture_ring(0);
}

/* --- captures ------------------------------------------------------------------------------- */

static uint32_t bad_ring = UINT32_MAX; /* has no memory */

/* What is in the rings is of the past, as when a server starts a capture. */
static void empty_rings(void)
{
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++) {
		if (i == bad_ring)
			continue;
		fixture_empty(i);
		stage->capture.tail[i] = atomic_load(&fixture_ring(i)->head);
	}
}

static void start(uint32_t clock)
{
	empty_rings();
	if (!timeline_ticks_are_usable(""))
		clock = ARENA_CLOCK_MONOTONIC;
	stage->clock = clock;
	stage->capture.start_ticks = script_now();
	stage->capture.lost_no_ring = atomic_load(&fixture.arena->lost_no_ring);
	inside_set_clock(clock);
	stage->capture.word = fixture_start(3);
}

static void start_by_ticks(void)
{
	start(ARENA_CLOCK_TICKS);
}

/* As in a program that has forbidden itself the counter. */
static void start_by_call(void)
{
	start(ARENA_CLOCK_MONOTONIC);
	inside_use_system_calls();
}

static void start_by_monotonic(void)
{
	start(ARENA_CLOCK_MONOTONIC);
}

static void stop(void)
{
	fixture_publish(0);
}

static void go_on(void)
{
	fixture_publish(stage->capture.word);
}

/* --- spans ---------------------------------------------------------------------------------- */

static void begin(void)
{
	PTAP_BEGIN("a span");
}

static void begin_inner(void)
{
	PTAP_BEGIN("a span in it");
}

static void end_by_call(void)
{
	ptap_end();
}

static void end(void)
{
	PTAP_END();
}

static struct ptap_impl_site outer_site = {0, {0}, "outer"};
static struct ptap_impl_site inner_site = {0, {0}, "inner"};

static void begin_outer(void)
{
	PTAP_IMPL_DYN((outer = ptap_impl_begin(&outer_site, ptap_impl_w), 0));
}

static void begin_nested(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin(&inner_site, ptap_impl_w), 0));
}

static void end_outer(void)
{
	ended = outer;
	ptap_impl_end(outer);
}

static void end_nested(void)
{
	ptap_impl_end(inner);
}

static void end_again(void)
{
	ptap_impl_end(ended);
}

static void end_foreign(void)
{
	struct ptap_impl_token token = outer;

	token.ring = fixture_ring(1);
	token.word = stage->capture.word;
	ptap_impl_end(token);
}

static void begin_dyn(void)
{
	ptap_begin_dyn("a name that is made at run time");
}

static void begin_nameless(void)
{
	ptap_begin_dyn(NULL);
}

static char long_text[600];

static void begin_dyn_long(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin_dyn(long_text, ptap_impl_w), 0));
}

static struct ptap_impl_site step_site = {0, {0}, "a step"};

static void begin_step(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin_step(&step_site, ptap_impl_w, 42), 0));
}

static void begin_step_dyn(void)
{
	ptap_begin_step_dyn("a step with a name of its own", -7);
}

/* --- arguments ------------------------------------------------------------------------------ */

static struct ptap_impl_site args_site = {0, {0}, "a span with arguments"};
static struct ptap_impl_site many_site = {0, {0}, "a span with too many"};
static struct ptap_impl_site large_site = {0, {0}, "a span as large as can be"};
static struct ptap_impl_site again_site = {0, {0}, "a span that is too large with its duration"};

static void begin_args(void)
{
	const struct ptap_impl_arg args[] = {
		PTAP_I("a number", -1),
		PTAP_U("another", UINT64_MAX),
		PTAP_F("a fraction", 0.25),
		PTAP_P("a place", (void *)0x1234),
		PTAP_S("a text", "of more than eight bytes"),
		PTAP_S("short", "text"),
		PTAP_S("none", NULL),
	};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&args_site, ptap_impl_w, args, 7), 0));
}

static const struct ptap_impl_arg *many_args(void)
{
	static struct ptap_impl_arg args[PTAP_IMPL_MAX_ARGS + 1];

	for (int i = 0; i <= PTAP_IMPL_MAX_ARGS; i++)
		args[i] = PTAP_I("one of many", i);
	return args;
}

static void begin_many_args(void)
{
	const struct ptap_impl_arg *args = many_args();

	PTAP_IMPL_DYN((
		inner = ptap_impl_begin_args(&many_site, ptap_impl_w, args, PTAP_IMPL_MAX_ARGS + 1),
		0));
}

static void begin_many_late(void)
{
	outer = ptap_impl_begin_args(
		&many_site, stage->capture.word, many_args(), PTAP_IMPL_MAX_ARGS + 1);
}

static void begin_large(void)
{
	const struct ptap_impl_arg args[] = {PTAP_S("all", long_text)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&large_site, ptap_impl_w, args, 1), 0));
}

static void begin_large_again(void)
{
	const struct ptap_impl_arg args[] = {PTAP_S("all", long_text)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&again_site, ptap_impl_w, args, 1), 0));
}

static struct ptap_impl_site numbers_site = {0, {0}, "a span with numbers"};

static void begin_numbers(void)
{
	const struct ptap_impl_arg args[] = {
		PTAP_I("a number", -1), PTAP_U("a large one", UINT64_MAX)};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&numbers_site, ptap_impl_w, args, 2), 0));
}

static struct ptap_impl_site no_args_site = {0, {0}, "a span without arguments"};

static void begin_no_args(void)
{
	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&no_args_site, ptap_impl_w, NULL, 0), 0));
}

static struct ptap_impl_site short_site = {0, {0}, "a span with short texts"};

static void begin_short_args(void)
{
	const struct ptap_impl_arg args[] = {
		PTAP_S("1", "a"),
		PTAP_S("2", "ab"),
		PTAP_S("3", "abc"),
		PTAP_S("7", "abcdefg"),
		PTAP_S("9", "abcdefghi"),
	};

	PTAP_IMPL_DYN((inner = ptap_impl_begin_args(&short_site, ptap_impl_w, args, 5), 0));
}

/* --- points --------------------------------------------------------------------------------- */

static void instant(void)
{
	PTAP_INSTANT("an instant");
}

static void instant_dyn(void)
{
	ptap_instant_dyn("an instant with a name of its own");
}

static void instant_dyn_long(void)
{
	ptap_instant_dyn(long_text);
}

/* What a careless writer would do: the test must see it. */
static void instant_out_of_order(void)
{
	uint64_t at = atomic_load(&ring()->head);
	struct slot *slot = fixture_slot(0, at);

	slot->word[0] = slot->word[1] = 0;
	atomic_store(&ring()->head, at + 1);
	slot->word[0] = record_word0(script_now(), RECORD_INSTANT, 0, 0);
	slot->word[1] = record_word1(0, outer_site.id);
}

static void counter_i(void)
{
	PTAP_COUNTER("a counter", 12);
}

static void counter_f(void)
{
	PTAP_COUNTER("a counter", 0.5);
}

static void counter_dyn(void)
{
	ptap_counter_dyn("a counter with a name of its own", 1.5);
}

static void flow_out(void)
{
	PTAP_FLOW_OUT("a flow", 99);
}

static void flow_in_dyn(void)
{
	ptap_flow_in_dyn("a flow", 99);
}

static void flow_out_dyn(void)
{
	ptap_flow_out_dyn("another flow", 98);
}

static void async_begin(void)
{
	PTAP_ASYNC_BEGIN("a request", 7);
}

static void async_begin_dyn(void)
{
	ptap_async_begin_dyn("another request", 8);
}

static void async_end(void)
{
	PTAP_ASYNC_END("a request", 7);
}

static void async_end_dyn(void)
{
	ptap_async_end_dyn("another request", 8);
}

static void ask(void)
{
	if (inside_ask(4))
		abort();
}

/* --- what goes wrong ------------------------------------------------------------------------ */

static void fill_stack(void)
{
	while (atomic_load(&ring()->depth) < RECORD_MAX_DEPTH)
		PTAP_BEGIN("deep");
}

static void empty_stack(void)
{
	while (atomic_load(&ring()->depth))
		PTAP_END();
}

static void take_guard(void)
{
	inside_set_guard(1);
}

static void free_guard(void)
{
	inside_set_guard(0);
}

/* As if the innermost span had begun |ticks| ago. */
static void age(uint64_t ticks)
{
	uint32_t at = atomic_load(&ring()->depth) - 1;
	uint64_t begun = atomic_load(&ring()->open[at].start) - ticks;

	atomic_store(&ring()->open[at].start, begun);
	atomic_store(&ring()->open[at].what,
		(atomic_load(&ring()->open[at].what) & UINT32_MAX) | begun << 32);
	/* The capture began before that, or the span would not be in it. */
	stage->capture.start_ticks -= ticks;
}

static void grow_old(void)
{
	age(LONG_TICKS);
}

static void step_back(void)
{
	age(0 - (UINT64_C(1) << 30));
	stage->capture.start_ticks -= UINT64_C(1) << 30;
}

/* Up to the last slot. */
static void fill_ring(void)
{
	while (FIXTURE_SLOTS - (atomic_load(&ring()->head) - atomic_load(&ring()->tail)) > 32)
		PTAP_INSTANT_DYN(long_text);
	while (FIXTURE_SLOTS - (atomic_load(&ring()->head) - atomic_load(&ring()->tail)) > 1)
		PTAP_INSTANT("filling");
}

static uint32_t strings_used;

static void use_strings_up_to(uint32_t at)
{
	strings_used = atomic_exchange(&fixture.arena->strings_used, at);
}

static void fill_strings(void)
{
	use_strings_up_to(ARENA_STRINGS_BYTES - 8);
}

/* Otherwise the server would look at more of it each time. */
static void free_strings(void)
{
	atomic_store(&fixture.arena->strings_used, strings_used);
}

static void instant_too_many(void)
{
	PTAP_INSTANT("a name that does not fit");
}

static void instant_at_the_end_of_the_table(void)
{
	PTAP_INSTANT("a name after that");
}

static char *last_string_page(void)
{
	use_strings_up_to(ARENA_STRINGS_BYTES - 2048);
	return arena_strings(fixture.arena) + ARENA_STRINGS_BYTES - 4096;
}

/* Where there is no page left: as behind the end of a file. */
static void use_up_pages(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);

	if (mmap(last_string_page(), 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		MAP_FAILED)
		abort();
}

static void take_pages_away(void)
{
	munmap(last_string_page(), 4096);
}

static void instant_without_page(void)
{
	PTAP_INSTANT("a name without a page");
}

static void counter_without_page(void)
{
	PTAP_COUNTER("another name without a page", 1);
}

static void begin_late(void)
{
	outer = ptap_impl_begin(&outer_site, stage->capture.word);
}

static void begin_dyn_late(void)
{
	outer = ptap_impl_begin_dyn("late", stage->capture.word);
}

static void begin_args_late(void)
{
	const struct ptap_impl_arg args[] = {PTAP_I("a number", -1)};

	outer = ptap_impl_begin_args(&args_site, stage->capture.word, args, 1);
}

static void begin_step_late(void)
{
	outer = ptap_impl_begin_step(&step_site, stage->capture.word, 1);
}

static void instant_late(void)
{
	ptap_impl_instant(&outer_site, stage->capture.word);
}

static void end_top_late(void)
{
	ptap_impl_end_top(stage->capture.word + 4);
}

static void begin_of_no_capture(void)
{
	ptap_impl_open(&outer_site, stage->capture.word + 4);
}

/* --- threads -------------------------------------------------------------------------------- */

static void name_thread(void)
{
	ptap_thread_name("a thread");
}

static void name_thread_anew(void)
{
	ptap_thread_name("another name of the same thread");
}

static void name_second_thread(void)
{
	ptap_thread_name("the second thread");
}

/* In ring 3, whose thread is gone: the server has freed it. */
static void be_a_third_thread(void)
{
	struct ring *freed = fixture_ring(3);

	inside_forget_thread();
	fixture_empty(3);
	stage->capture.tail[3] = atomic_load(&freed->head);
	atomic_store(&freed->word, 0);
	atomic_store(&freed->tid, 0);
	atomic_store(&fixture.arena->ring_state[3], RING_FREE);
}

static void be_a_thread_without_ring(void)
{
	inside_forget_thread();
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
		atomic_store(&fixture.arena->ring_state[i], RING_USED);
}

static void be_a_thread_with_a_bad_ring(void)
{
	bad_ring = 2;
	munmap(fixture_ring(bad_ring), ring_stride_bytes(FIXTURE_RING_BYTES));
	inside_forget_thread();
	atomic_store(&fixture.arena->ring_state[bad_ring], RING_FREE);
	atomic_store(&fixture.arena->rings_ready, 2);
}

static void be_a_thread_with_a_late_ring(void)
{
	be_a_third_thread();
	ck_assert_int_eq(
		mprotect(fixture_ring(3), ring_stride_bytes(FIXTURE_RING_BYTES), PROT_NONE), 0);
}

static void be_interrupted_on_the_way(void)
{
	inside_forget_thread();
	inside_set_entering(stage->capture.word);
}

static void be_followed(void)
{
	inside_forget_thread();
	inside_follow(stage->capture.word);
}

/* Another thread is at it. */
static void be_followed_too_early(void)
{
	inside_forget_thread();
	inside_follow(UINT32_MAX);
}

static void be_followed_in_vain(void)
{
	inside_forget_thread();
	inside_follow(0);
}

/* It would be killed by reading it. */
static void instant_without_the_counter(void)
{
#ifdef PR_SET_TSC
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	PTAP_INSTANT("without a clock");
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
#endif
}

static void make_long_text(void)
{
	memset(long_text, 'x', sizeof long_text - 1);
}

#define LOUD 0

/* Once for each of the two ways that annotations take: lib/record/short_way.c, long_way.h. Without a last comma. */
/* clang-format off */
#define ACTS_IN_A_FULL_RING \
	{"span", begin, LOUD}, \
	{"instant", instant, LOUD}, \
	{"step before", begin_step, LOUD}, \
	{"arguments before", begin_args, LOUD}, \
	{"fill", fill_ring, ACT_QUIET}, \
	{"does not fit", counter_i, LOUD}, \
	{"fits", instant, LOUD}, \
	{"full", instant, LOUD}, \
	{"full counter with a fraction", counter_f, LOUD}, \
	{"full flow", flow_out, LOUD}, \
	{"full dynamic", instant_dyn_long, ACT_TWO_PARTS}, \
	{"end of arguments in a full ring", end, ACT_TWO_PARTS}, \
	{"end of a step in a full ring", end, ACT_TWO_PARTS}, \
	{"end in a full ring", end, ACT_TWO_PARTS}, \
	{"drained", empty_rings, ACT_QUIET}, \
	{"fits again", begin_args, LOUD}, \
	{"round the corner", end_nested, ACT_DISTURBED}, \
	{"fill", fill_ring, ACT_QUIET}, \
	{"fits", instant, ACT_QUIET}, \
	{"drained", empty_rings, ACT_QUIET}, \
	{"instant fits again", instant, LOUD}, \
	{"fill", fill_ring, ACT_QUIET}, \
	{"drained", empty_rings, ACT_QUIET}, \
	{"counter fits again", counter_i, LOUD}, \
	{"span before", begin, LOUD}, \
	{"fill", fill_ring, ACT_QUIET}, \
	{"fits", instant, LOUD}, \
	{"drained", empty_rings, ACT_QUIET}, \
	{"its end fits again", end, LOUD}

#define ACTS_THAT_ARE_LATE \
	{"capture that ends", begin_outer, LOUD}, \
	{"stop", stop, ACT_QUIET}, \
	{"its end, late", end_outer, LOUD}, \
	{"end without a token", end, LOUD}, \
	{"late begin", begin_late, LOUD}, \
	{"late dynamic begin", begin_dyn_late, LOUD}, \
	{"late arguments", begin_args_late, LOUD}, \
	{"late step", begin_step_late, LOUD}, \
	{"late instant", instant_late, LOUD}, \
	{"late end", end_top_late, LOUD}, \
	{"begin of no capture", begin_of_no_capture, LOUD}, \
	{"late with too many", begin_many_late, LOUD}, \
	{"dynamic begin, off", begin_dyn, LOUD}, \
	{"dynamic step, off", begin_step_dyn, LOUD}, \
	{"end, off", end_by_call, LOUD}, \
	{"dynamic instant, off", instant_dyn, LOUD}, \
	{"dynamic counter, off", counter_dyn, LOUD}, \
	{"dynamic flow, off", flow_in_dyn, LOUD}, \
	{"dynamic flow out, off", flow_out_dyn, LOUD}, \
	{"dynamic async begin, off", async_begin_dyn, LOUD}, \
	{"dynamic async end, off", async_end_dyn, LOUD}, \
	{"goes on", go_on, ACT_QUIET}, \
	{"end of what was late", end, LOUD}

/* The last ones of a capture: it began before its spans. */
#define ACTS_OF_AGED \
	{"old span", begin, ACT_QUIET}, \
	{"grows old", grow_old, ACT_QUIET}, \
	{"ends", end, ACT_AGED}, \
	{"old span with a name", begin_dyn, ACT_QUIET}, \
	{"grows old", grow_old, ACT_QUIET}, \
	{"ends", end, ACT_AGED}, \
	{"old span with too much", begin_large_again, ACT_QUIET}, \
	{"grows old", grow_old, ACT_QUIET}, \
	{"ends", end_nested, ACT_AGED}, \
	{"span of the future", begin, ACT_QUIET}, \
	{"clock steps back", step_back, ACT_QUIET}, \
	{"ends", end, ACT_AGED}
/* clang-format on */

const struct act script[] = {
	{"make long text", make_long_text, ACT_QUIET},
	{"start", start_by_ticks, ACT_QUIET},
	{"ask for a level", ask, LOUD},
	{"first span", begin, LOUD},
	{"instant", instant, LOUD},
	{"end of the first span", end, LOUD},
	{"span", begin, LOUD},
	{"span in it", begin_inner, LOUD},
	{"end", end, ACT_DISTURBED},
	{"instant again", instant, LOUD},
	{"end of the outer one", end, LOUD},
	{"end without a begin", end, LOUD},
	{"name", name_thread, LOUD},
	{"another name", name_thread_anew, LOUD},
	{"arguments", begin_args, LOUD},
	{"end", end_nested, LOUD},
	{"arguments again", begin_args, ACT_DISTURBED},
	{"end again", end_nested, ACT_DISTURBED},
	{"too many arguments", begin_many_args, ACT_TWO_PARTS},
	{"end of too many", end_nested, LOUD},
	{"no arguments", begin_no_args, LOUD},
	{"end of none", end_nested, LOUD},
	{"short texts", begin_short_args, LOUD},
	{"end of short texts", end_nested, LOUD},
	{"large", begin_large, ACT_TWO_PARTS},
	{"end of large", end_nested, LOUD},
	{"dynamic", begin_dyn, LOUD},
	{"end of dynamic", end, LOUD},
	{"nameless", begin_nameless, LOUD},
	{"end of nameless", end_by_call, LOUD},
	{"long name", begin_dyn_long, ACT_TWO_PARTS},
	{"end of long name", end_nested, LOUD},
	{"step", begin_step, LOUD},
	{"dynamic step", begin_step_dyn, ACT_DISTURBED},
	{"end of dynamic step", end, LOUD},
	{"end of step", end, LOUD},
	{"dynamic instant", instant_dyn, LOUD},
	{"counter", counter_i, LOUD},
	{"counter with a fraction", counter_f, LOUD},
	{"counter again", counter_i, ACT_DISTURBED},
	{"counter with a fraction again", counter_f, ACT_DISTURBED},
	{"dynamic counter", counter_dyn, LOUD},
	{"flow out", flow_out, LOUD},
	{"flow out again", flow_out, ACT_DISTURBED},
	{"numbers", begin_numbers, LOUD},
	{"end of numbers", end_nested, LOUD},
	{"numbers again", begin_numbers, ACT_DISTURBED},
	{"end of numbers again", end_nested, ACT_DISTURBED},
	{"flow in", flow_in_dyn, LOUD},
	{"dynamic flow out", flow_out_dyn, LOUD},
	{"async begin", async_begin, LOUD},
	{"dynamic async begin", async_begin_dyn, LOUD},
	{"async end", async_end, LOUD},
	{"dynamic async end", async_end_dyn, LOUD},
	{"outer", begin_outer, LOUD},
	{"nested", begin_nested, LOUD},
	{"end of outer", end_outer, ACT_TWO_PARTS},
	{"end of nested, late", end_nested, LOUD},
	{"outer ends twice", end_again, LOUD},
	{"outer again", begin_outer, LOUD},
	{"ends elsewhere", end_foreign, LOUD},
	{"guard", take_guard, ACT_QUIET},
	{"span in a handler", begin, LOUD},
	{"its end", end, LOUD},
	{"dynamic span in a handler", begin_dyn, LOUD},
	{"its end", end, LOUD},
	{"step in a handler", begin_step, LOUD},
	{"dynamic step in a handler", begin_step_dyn, LOUD},
	{"its end", end, LOUD},
	{"arguments in a handler", begin_args, LOUD},
	{"instant in a handler", instant, LOUD},
	{"dynamic instant in a handler", instant_dyn, LOUD},
	{"counter in a handler", counter_i, LOUD},
	{"dynamic counter in a handler", counter_dyn, LOUD},
	{"an end in a handler", end_outer, LOUD},
	{"an end elsewhere in a handler", end_foreign, LOUD},
	{"no guard", free_guard, ACT_QUIET},
	{"deep", fill_stack, ACT_QUIET},
	{"too deep", begin, LOUD},
	{"its end", end, LOUD},
	{"dynamic and too deep", begin_dyn, LOUD},
	{"its end", end, LOUD},
	{"arguments and too deep", begin_args, LOUD},
	{"step and too deep", begin_step, LOUD},
	{"dynamic step and too deep", begin_step_dyn, LOUD},
	{"its end", end, LOUD},
	{"instant below", instant, LOUD},
	{"flat", empty_stack, ACT_QUIET},
	{"fill", fill_ring, ACT_QUIET},
	{"full in the first capture", counter_i, LOUD},
	{"drained", empty_rings, ACT_QUIET},
	ACTS_IN_A_FULL_RING,
	ACTS_THAT_ARE_LATE,
	ACTS_OF_AGED,
	{"next capture", start_by_monotonic, ACT_QUIET},
	ACTS_IN_A_FULL_RING,
	ACTS_THAT_ARE_LATE,
	ACTS_OF_AGED,
	{"another capture", start_by_monotonic, ACT_QUIET},
	{"full table", fill_strings, ACT_QUIET},
	{"too many names", instant_too_many, LOUD},
	{"free table", free_strings, ACT_QUIET},
	{"a name fits again", instant_at_the_end_of_the_table, LOUD},
	{"no more pages", use_up_pages, ACT_QUIET},
	{"name without a page", instant_without_page, LOUD},
	{"free table", free_strings, ACT_QUIET},
	{"no pages at all", take_pages_away, ACT_QUIET},
	{"name without any page", counter_without_page, LOUD},
	{"free table", free_strings, ACT_QUIET},
	{"second thread", inside_forget_thread, ACT_QUIET},
	{"its name", name_second_thread, LOUD},
	{"its first span", begin, ACT_DISTURBED},
	{"no ring", be_a_thread_without_ring, ACT_QUIET},
	{"instant without a ring", instant, LOUD},
	{"another", instant, LOUD},
	{"span without a ring", begin, LOUD},
	{"span with a token without a ring", begin_outer, LOUD},
	{"dynamic span without a ring", begin_dyn, LOUD},
	{"span with arguments without a ring", begin_args, LOUD},
	{"step without a ring", begin_step, LOUD},
	{"dynamic step without a ring", begin_step_dyn, LOUD},
	{"dynamic instant without a ring", instant_dyn, LOUD},
	{"counter without a ring", counter_i, LOUD},
	{"dynamic counter without a ring", counter_dyn, LOUD},
	{"end elsewhere without a ring", end_foreign, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a span", begin, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a span with a token", begin_outer, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic span", begin_dyn, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a span with arguments", begin_args, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a step", begin_step, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic step", begin_step_dyn, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic instant", instant_dyn, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a counter", counter_i, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a dynamic counter", counter_dyn, LOUD},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"begins with a end elsewhere", end_foreign, LOUD},
	{"bad ring", be_a_thread_with_a_bad_ring, ACT_QUIET},
	{"instant without its ring", instant, LOUD},
	{"late ring", be_a_thread_with_a_late_ring, ACT_QUIET},
	{"instant with it", instant, LOUD},
	{"capture by ticks", start_by_ticks, ACT_QUIET},
	{"on the way", be_interrupted_on_the_way, ACT_QUIET},
	{"instant on the way", instant, LOUD},
	{"capture by calls", start_by_call, ACT_QUIET},
	{"third thread", be_a_third_thread, ACT_QUIET},
	{"instant by call", instant, LOUD},
	{"followed too early", be_followed_too_early, ACT_QUIET},
	{"instant that comes too early", instant, LOUD},
	{"followed in vain", be_followed_in_vain, ACT_QUIET},
	{"instant that does not join", instant, LOUD},
	{"followed", be_followed, ACT_QUIET},
	{"instant that joins", instant, LOUD},
	{"no counter", inside_forget_thread, ACT_QUIET},
	{"instant without the counter", instant_without_the_counter, LOUD},
};

const struct act careless_act = {"instant out of order", instant_out_of_order, LOUD};
const size_t script_length = sizeof script / sizeof script[0];
