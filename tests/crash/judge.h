/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a picture that was taken within an act is one that may be seen there. */
#ifndef TESTS_CRASH_JUDGE_H
#define TESTS_CRASH_JUDGE_H

#include <stddef.h>

#include "tests/crash/picture.h"

#define JUDGE_MAX_ACTS 512

/* Before each act, and after the last: from a run that nobody disturbs. */
extern struct picture judge_expected[JUDGE_MAX_ACTS + 1];

/*
 * Whether it says what was there before the act |act|, or after it; for one of two parts, or in
 * between.
 */
int judge_allows(const struct picture *p, size_t act);

/*
 * Whether |p|, which follows |last| in the same act, may be seen: its times are those it had, and
 * nothing goes that was there. Takes |p| over in place of |last|.
 */
int judge_next(struct picture *p, struct picture *last, size_t act);

/* For people. */
void judge_say(const struct picture *p, size_t act, size_t step);

#endif
