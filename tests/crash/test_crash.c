/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a program that is killed between any two instructions of an annotation: the server delivers
 * what it would have delivered before that annotation or after it. No record is torn or invented,
 * and no older one is lost. The program is single-stepped, and its rings are read at each stop,
 * because the memory that it shares with the server survives it unchanged. At some of the stops it
 * is really killed.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/crash/code.h"
#include "tests/crash/inside.h"
#include "tests/crash/judge.h"
#include "tests/crash/program.h"
#include "tests/crash/stage.h"
#include "tests/crash/walk.h"
#include "tests/unit/guest_fixture.h"

#define N_KILLS 150
/*
 * The number of instructions that never run here. They check for a text without room (five), for a
 * ring that disappears right after it was found, and, in the code that writes frames and long
 * durations, for a span without them.
 */
#define N_NEVER_REACHED 11
#define STEP_LIMIT 20000
/* The number of steps of a long act that are disturbed. */
#define STEPS_DISTURBED 80

static size_t n_steps[JUDGE_MAX_ACTS];
static bool says_nothing;

static void read_picture(struct picture *p, pid_t pid)
{
	picture_take(p, &stage->capture, pid, stage_now());
}

static void expect_all(void)
{
	pid_t pid;

	ck_assert_uint_le(script_length, JUDGE_MAX_ACTS);
	pid = program_start(0, NULL);
	for (size_t i = 0; i <= script_length; i++) {
		picture_free(&judge_expected[i]);
		read_picture(&judge_expected[i], pid);
		if (i < script_length)
			program_play(pid);
	}
	program_kill(pid);
	stage_reopen();
}

/* --- stepping -------------------------------------------------------------------------------- */

/*
 * Returns true if the contents of the rings may have changed since the last stop: the instruction
 * at |pc| belongs to lib/record, or to the C library on its behalf.
 */
static bool may_have_stored(uint64_t pc, bool is_ours, bool is_inside)
{
	return is_ours || (is_inside && !code_is_program(pc));
}

/* Steps from before |act| to before the next one. Returns how many stops showed a wrong picture. */
static size_t step_through(pid_t pid, size_t act, size_t *n_stops)
{
	struct picture last;
	struct picture p;
	size_t n_wrong = 0;
	size_t n = 0;
	bool is_inside = false;

	read_picture(&last, pid);
	for (size_t i = 0;; i++) {
		uint64_t pc = program_get_pc(pid);
		bool is_ours = code_reach(pc);

		is_inside |= is_ours;
		ck_assert_msg(i < STEP_LIMIT, "act %zu (%s) does not end", act, script[act].name);
		if (!program_step(pid, act))
			break;
		if (!says_nothing && !may_have_stored(pc, is_ours, is_inside))
			continue;
		n++;
		read_picture(&p, pid);
		if (!judge_next(&p, &last, act) && !n_wrong++ && !says_nothing)
			judge_say(&last, act, i);
	}
	n_wrong += !picture_is_same(&last, &judge_expected[act + 1]);
	picture_free(&last);
	*n_stops = n;
	return n_wrong;
}

static size_t note_steps(pid_t pid, size_t act, size_t *n_stops)
{
	size_t n_wrong = step_through(pid, act, n_stops);

	n_steps[act] = *n_stops;
	return n_wrong;
}

static void step_through_all(void)
{
	static const struct walk walk = {.step_through = note_steps};

	walk_script(&walk);
	stage_reopen();
}

/* --- disturbances ---------------------------------------------------------------------------- */

static void end_capture(pid_t pid)
{
	program_clear(pid, inside_word(), sizeof(long));
}

/*
 * As if a signal handler had forked during the annotation: the child returns into the
 * annotation, and the child's page is wiped.
 */
static void fork_away(pid_t pid)
{
	program_clear(pid, inside_page(), INSIDE_PAGE_BYTES);
}

/* Begins a capture over a flight recorder: the recording continues. */
static void change_level(pid_t pid)
{
	program_write(pid, inside_word(), stage->capture.word ^ 1);
}

/*
 * Steps |act| to its end. Calls |disturb| at the |n|th instruction of lib/record. Returns whether
 * the act has that many.
 */
static bool step_disturbed(pid_t pid, size_t act, size_t n, void (*disturb)(pid_t))
{
	size_t n_ours = 0;
	bool is_disturbed = false;

	do {
		n_ours += (size_t)code_reach(program_get_pc(pid));
		if (n_ours == n && !is_disturbed) {
			disturb(pid);
			is_disturbed = true;
		}
	} while (program_step(pid, act));
	return is_disturbed;
}

/* Returns false if the act has fewer than |n| instructions of lib/record. */
static bool disturb_at(size_t n, size_t act, void (*disturb)(pid_t), size_t *n_wrong)
{
	pid_t pid = program_start(act, NULL);
	bool is_disturbed = step_disturbed(pid, act, n, disturb);
	struct picture p;
	bool is_right;

	read_picture(&p, pid);
	if (disturb == change_level)
		is_right = picture_is_same(&p, &judge_expected[act + 1]);
	else
		is_right = judge_allows(&p, act);
	if (!is_right && !(*n_wrong)++)
		judge_say(&p, act, n);
	picture_free(&p);
	program_kill(pid);
	stage_reopen();
	return is_disturbed;
}

static void disturb_all(void (*disturb)(pid_t), const char *what)
{
	size_t n_wrong = 0;
	size_t n = 0;

	for (size_t i = 0; i < script_length; i++)
		if (script[i].flags & ACT_DISTURBED)
			for (size_t k = 1; disturb_at(k, i, disturb, &n_wrong);
				k += 1 + n_steps[i] / STEPS_DISTURBED)
				n++;
	printf("# %s at %zu instructions, %zu of them wrong\n", what, n, n_wrong);
	ck_assert_uint_eq(n_wrong, 0);
}

/* --- being killed ---------------------------------------------------------------------------- */

/* Finds the |n|th of all stops: its act, and the step within the act. */
static size_t find_stop(size_t n, size_t *step)
{
	size_t act = 0;

	while (n >= n_steps[act])
		n -= n_steps[act++];
	*step = n;
	return act;
}

static size_t kill_at(size_t stop)
{
	struct picture p;
	size_t step;
	size_t act = find_stop(stop, &step);
	pid_t pid = program_start(act, NULL);
	bool is_right;

	for (size_t i = 0; i < step && program_step(pid, act); i++)
		;
	program_kill(pid);
	read_picture(&p, pid);
	is_right = judge_allows(&p, act);
	if (!is_right)
		judge_say(&p, act, step);
	picture_free(&p);
	stage_reopen();
	return !is_right;
}

static void kill_at_some(void)
{
	size_t n_all = 0;
	size_t n_wrong = 0;

	for (size_t i = 0; i < script_length; i++)
		n_all += n_steps[i];
	for (size_t i = 0; i < N_KILLS; i++)
		n_wrong += kill_at(i * n_all / N_KILLS);
	printf("# killed at %d of the stops, %zu of them wrong\n", N_KILLS, n_wrong);
	ck_assert_uint_eq(n_wrong, 0);
}

/* --- the tests ------------------------------------------------------------------------------- */

static void check_code(void)
{
	size_t n_missed = code_report();

	printf("# %zu instructions of lib/record, %zu of them not reached\n", code_count(),
		n_missed);
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__clang__)
	ck_assert_uint_le(n_missed, N_NEVER_REACHED);
#endif
}

START_TEST(delivered_spans_are_whole_wherever_the_program_is_killed)
{
	bool has_code = code_load() == 0;

	expect_all();
	step_through_all();
	kill_at_some();
	disturb_all(end_capture, "the capture ended");
	disturb_all(fork_away, "a handler forked");
	disturb_all(change_level, "the level changed");
	if (has_code)
		check_code();
}
END_TEST

static bool has_row(const struct picture *p, const char *text)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->rows[i].text, text) == 0)
			return true;
	return false;
}

/*
 * Rows that the expectation must have after the named act, and not before: this checks the
 * expectation itself.
 */
static const struct {
	const char *act;
	const char *row;
} known[] = {
	{"first span", "test_crash: 'a span' unfinished=1"},
	{"end of the first span", "test_crash: 'a span'"},
	{"another name", "another name of the same thread: 'a span'"},
	{"arguments", "another name of the same thread: 'a span with arguments' a number=-1 "
		      "another=18446744073709551615 a fraction=0.25 a place='0x1234' "
		      "a text='of more than eight bytes' short='text' none='(null)' unfinished=1"},
	{"dynamic",
		"another name of the same thread: 'a name that is made at run time' unfinished=1"},
	{"counter", "_counters_: 'a counter' value=12"},
	{"async begin", "a request: 'a request' id=7 _a=1 unfinished=1"},
	{"end of outer", " ptap_lost_left_open=1"},
	{"full in the first capture", " ptap_lost_ring_full=1"},
	{"too many names", "another name of the same thread: '(too many names)'"},
	{"instant without a ring", " ptap_lost_no_ring=1"},
};

START_TEST(expectation_matches_the_acts_of_the_script)
{
	size_t n = 0;

	expect_all();
	for (size_t i = 0; i < script_length; i++) {
		for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
			if (strcmp(script[i].name, known[k].act) != 0)
				continue;
			ck_assert_msg(!has_row(&judge_expected[i], known[k].row), "%s, before",
				known[k].act);
			if (!has_row(&judge_expected[i + 1], known[k].row))
				picture_print(&judge_expected[i + 1], known[k].act);
			ck_assert_msg(has_row(&judge_expected[i + 1], known[k].row), "%s, after",
				known[k].act);
			n++;
		}
	}
	ck_assert_uint_eq(n, sizeof known / sizeof known[0]);
}
END_TEST

/* Publishes the head before the slots. If the test missed this, it could detect nothing. */
START_TEST(a_record_that_is_torn_is_seen)
{
	size_t n_stops;
	size_t n_wrong;
	size_t act = 0;
	pid_t pid;

	expect_all();
	while (strcmp(script[act].name, "instant again") != 0)
		act++;
	pid = program_start(act, &careless_act);
	says_nothing = true;
	n_wrong = step_through(pid, act, &n_stops);
	program_kill(pid);
	ck_assert_uint_gt(n_wrong, 0);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, expectation_matches_the_acts_of_the_script);
	tcase_add_test(tcase, a_record_that_is_torn_is_seen);
	tcase_add_test(tcase, delivered_spans_are_whole_wherever_the_program_is_killed);
}

int main(void)
{
	return walk_main("crash", add_tests);
}
