/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child of a target. */
#ifndef TESTS_PROGRAMS_OFFSPRING_H
#define TESTS_PROGRAMS_OFFSPRING_H

/*
 * COUNT: the child annotates so many times, tells "CHILD PORT ENABLED", then starts a server of its
 * own, tells "CHILD RESULT PORT", and emits spans "born" until it is killed or its life is over.
 */
void offspring_fork(char *arguments);

/*
 * WHY: the child annotates, asks for a snapshot, and ends. Answers what ptap_snapshot() returned
 * there.
 */
void offspring_snapshot(char *arguments);

/* A shell's command line: says "CHILD", the process that runs it. */
void offspring_spawn(char *arguments);

#endif
