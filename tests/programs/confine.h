/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forked children of a target that are confined, or act unusually, before their first annotation.
 */
#ifndef TESTS_PROGRAMS_CONFINE_H
#define TESTS_PROGRAMS_CONFINE_H

/*
 * KIND [DIR]: forks a child, which is confined as KIND says (a row in confine.c) and then makes its
 * first annotation. It answers "PID", or the error if the confinement failed, and emits spans "job"
 * until it is killed.
 */
void confine(char *arguments);

#endif
