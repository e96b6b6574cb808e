/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator that fails at its n-th call. A program that has it is linked with -Wl,--wrap for
 * each function in failing.c ($(failing_flags)); what the libraries allocate does not fail.
 */
#ifndef TESTS_UNIT_FAILING_H
#define TESTS_UNIT_FAILING_H

#include <stdbool.h>

/* The call after the next |n| fails, of any thread, and none else. */
void failing_start(long n);
/* None does from now on. Whether it came to that. */
bool failing_stop(void);

#endif
