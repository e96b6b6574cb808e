/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that give a target a clock which differs from the machine's. */
#ifndef TESTS_PROGRAMS_OWN_CLOCK_H
#define TESTS_PROGRAMS_OWN_CLOCK_H

/*
 * Forbids this process the processor's counter before a server is started: its clock is then
 * CLOCK_MONOTONIC. Answers 0 or a negative errno.
 */
void own_clock_forbid_counter(char *arguments);

/*
 * SECONDS: children forked from now on have a CLOCK_MONOTONIC that is ahead by SECONDS. Answers 0
 * or a negative errno.
 */
void own_clock_for_children(char *arguments);

#endif
