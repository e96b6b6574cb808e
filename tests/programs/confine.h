/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forked children of a target that are confined, or do odd things, before their first annotation.
 */
#ifndef TESTS_PROGRAMS_CONFINE_H
#define TESTS_PROGRAMS_CONFINE_H

/*
 * KIND [DIR]: forks a child that is confined so (a row in confine.c) and makes its first
 * annotation. It says "PID" then, or what went wrong before, and emits spans "job" for ever.
 */
void confine(char *arguments);

#endif
