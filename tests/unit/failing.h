/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the n-th allocation fail. A program that uses this is linked with -Wl,--wrap for each
 * function in failing.c ($(failing_flags)). Allocations within other libraries do not fail.
 */
#ifndef TESTS_UNIT_FAILING_H
#define TESTS_UNIT_FAILING_H

#include <stdbool.h>

/* Lets the next |n| calls, of any thread, succeed, and makes the one after them fail. */
void failing_start(long n);
/* No call fails from now on. Returns whether one has failed. */
bool failing_stop(void);

#endif
