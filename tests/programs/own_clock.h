/* SPDX-License-Identifier: Apache-2.0 */
/* A target whose clock is not the machine's. */
#ifndef TESTS_PROGRAMS_OWN_CLOCK_H
#define TESTS_PROGRAMS_OWN_CLOCK_H

/*
 * Forbids itself the processor's counter, before a server is started: its clock is CLOCK_MONOTONIC
 * then. Says 0 or a negative errno.
 */
void own_clock_forbid_counter(char *arguments);

/*
 * SECONDS: the children that it forks from now on have a CLOCK_MONOTONIC that is so far ahead. As
 * above.
 */
void own_clock_for_children(char *arguments);

#endif
