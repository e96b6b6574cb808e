/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the program that plays the script and those who look at it: a part of memory, and the
 * arena of guest_fixture.h.
 */
#ifndef TESTS_CRASH_STAGE_H
#define TESTS_CRASH_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/crash/picture.h"

struct stage {
	_Atomic size_t n_done; /* acts */
	uint64_t act_ticks; /* before the one that is under way */
	uint32_t clock; /* enum arena_clock: of the capture */
	struct picture_capture capture;
};

extern struct stage *stage;

/* A checked fixture of a test case. */
void stage_open(void);
void stage_close(void);
/* Each run has an arena of its own. */
void stage_reopen(void);

/* The time of the capture's clock. */
uint64_t stage_now(void);

#endif
