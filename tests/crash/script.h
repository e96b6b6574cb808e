/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script of the program that is killed: acts, each of which makes one annotation, or prepares
 * the next one. The acts cover each way through lib/record.
 */
#ifndef TESTS_CRASH_SCRIPT_H
#define TESTS_CRASH_SCRIPT_H

#include <stddef.h>

enum act_flags {
	ACT_QUIET = 1, /* prepares: states during it are not judged */
	ACT_TWO_PARTS = 2, /* more than one thing changes, one after the other */
	ACT_AGED = 4, /* the span's times are invented */
	ACT_DISTURBED =
		8, /* also tried with the capture's end, and with a fork, at each instruction */
};

struct act {
	const char *name;
	void (*run)(void);
	unsigned flags; /* enum act_flags */
};

extern const struct act script[];
extern const size_t script_length;
/* An act that leaves a torn record, to show that the test detects one. */
extern const struct act careless_act;

#endif
