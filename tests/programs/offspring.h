/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child of a target. */
#ifndef TESTS_PROGRAMS_OFFSPRING_H
#define TESTS_PROGRAMS_OFFSPRING_H

/*
 * COUNT: forks a child that annotates COUNT times, prints "CHILD PORT ENABLED", starts a server of
 * its own, prints "CHILD RESULT PORT", and emits spans "born" until it is killed or its alarm ends
 * it.
 */
void offspring_fork(char *arguments);

/*
 * WHY: forks a child that annotates, asks for a snapshot, and ends. Answers what ptap_snapshot()
 * returned in the child.
 */
void offspring_snapshot(char *arguments);

/* A command line of the shell: starts it. Answers "CHILD", the pid of its process. */
void offspring_spawn(char *arguments);

#endif
