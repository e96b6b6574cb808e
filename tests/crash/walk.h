/* SPDX-License-Identifier: Apache-2.0 */
/* Steps through the whole script, and provides the main function of the tests that do so. */
#ifndef TESTS_CRASH_WALK_H
#define TESTS_CRASH_WALK_H

#include <check.h>
#include <stddef.h>
#include <sys/types.h>

/* The callbacks of a test. */
struct walk {
	/*
	 * Steps from before |act| to before the next one. Returns how many states were
	 * wrong; *n_stops: the number of stops.
	 */
	size_t (*step_through)(pid_t pid, size_t act, size_t *n_stops);
	/* Called after an act that was played without stops. May be NULL. */
	void (*look_behind)(void);
};

/*
 * Prints the number of stops, and asserts that no state was wrong. By then, the program was killed.
 */
void walk_script(const struct walk *walk);

/*
 * The main(): a suite of one case, with the stage as fixture of each test. It is skipped where no
 * program can be stepped.
 */
int walk_main(const char *name, void (*add_tests)(TCase *tcase));

#endif
