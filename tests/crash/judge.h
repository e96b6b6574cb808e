/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a picture that was taken during an act shows an allowed state. */
#ifndef TESTS_CRASH_JUDGE_H
#define TESTS_CRASH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/crash/picture.h"

#define JUDGE_MAX_ACTS 512

/* The pictures before each act and after the last one, from a run without disturbance. */
extern struct picture judge_expected[JUDGE_MAX_ACTS + 1];

/*
 * Returns true if |p| shows the state before |act| or the state after it. For an act of two parts,
 * a state in between is allowed, too.
 */
bool judge_allows(const struct picture *p, size_t act);

/*
 * Returns true if |p| may follow |last| in the same act: events keep their times, and none
 * disappears. Moves |p| into |last|.
 */
bool judge_next(struct picture *p, struct picture *last, size_t act);

/* Prints the picture that was judged wrong. */
void judge_say(const struct picture *p, size_t act, size_t step);

#endif
