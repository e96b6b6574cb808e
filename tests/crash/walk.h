/* SPDX-License-Identifier: Apache-2.0 */
/* The way through the whole script, a step at a time, and the test program around it. */
#ifndef TESTS_CRASH_WALK_H
#define TESTS_CRASH_WALK_H

#include <check.h>
#include <stddef.h>
#include <sys/types.h>

/* The observer of the way. */
struct walk {
	/*
	 * Steps through |act|, from before it to before the next one. Returns how many looks were
	 * wrong; *n_stops: of all.
	 */
	size_t (*step_through)(pid_t pid, size_t act, size_t *n_stops);
	/* Behind an act that was played in one go; NULL ok. */
	void (*look_behind)(void);
};

/* Says how many stops there were, and asserts that no look was wrong. The program is dead then. */
void walk_script(const struct walk *walk);

/*
 * The main(): a suite of one case, with the stage open in each test; skipped where nothing can be
 * stepped.
 */
int walk_main(const char *name, void (*add_tests)(TCase *tcase));

#endif
