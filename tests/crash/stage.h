/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is shared by the program that plays the script and the test that observes it: one
 * struct, and the arena of guest_fixture.h.
 */
#ifndef TESTS_CRASH_STAGE_H
#define TESTS_CRASH_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/crash/picture.h"

struct stage {
	_Atomic size_t n_done; /* acts that are over */
	uint64_t act_ticks; /* time before the current act */
	uint32_t clock; /* enum arena_clock of the capture */
	struct picture_capture capture;
};

extern struct stage *stage;

/* A checked fixture of a test case. */
void stage_open(void);
void stage_close(void);
/* Replaces the arena: each run has one of its own. */
void stage_reopen(void);

/* The current time by the capture's clock. */
uint64_t stage_now(void);

#endif
