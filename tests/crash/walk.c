/* SPDX-License-Identifier: Apache-2.0 */
/* Steps through the script; see walk.h. */
#include "tests/crash/walk.h"

#include <sched.h>
#include <stdio.h>

#include "tests/crash/program.h"
#include "tests/crash/script.h"
#include "tests/crash/stage.h"

static size_t play_act(const struct walk *walk, pid_t pid, size_t act, size_t *n_stops)
{
	*n_stops = 0;
	if (!(script[act].flags & ACT_QUIET))
		return walk->step_through(pid, act, n_stops);
	program_play(pid);
	if (walk->look_behind)
		walk->look_behind();
	return 0;
}

void walk_script(const struct walk *walk)
{
	pid_t pid = program_start(0, NULL);
	size_t n_all = 0;
	size_t n_wrong = 0;

	for (size_t i = 0; i < script_length; i++) {
		size_t n_stops;

		n_wrong += play_act(walk, pid, i, &n_stops);
		n_all += n_stops;
	}
	program_kill(pid);
	printf("# %zu stop points in %zu acts, %zu states were wrong\n", n_all, script_length,
		n_wrong);
	fflush(stdout);
	ck_assert_uint_eq(n_wrong, 0);
}

/* The program and its tracer run alternately, which is twice as fast on one processor as on two. */
static void stay_on_one_processor(void)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : (unsigned)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

int walk_main(const char *name, void (*add_tests)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	const char *why_not = program_why_not();

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, stage_open, stage_close);
	tcase_set_timeout(tcase, 0); /* program_start() ends a program that hangs */
	add_tests(tcase);
	if (why_not) {
		printf("1..0 # SKIP %s\n", why_not);
	} else {
		stay_on_one_processor();
		srunner_run_all(runner, CK_ENV);
	}
	srunner_free(runner);
	return 0;
}
