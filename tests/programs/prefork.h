/* SPDX-License-Identifier: Apache-2.0 */
/* Children that a target forks, and that its server may follow. */
#ifndef TESTS_PROGRAMS_PREFORK_H
#define TESTS_PROGRAMS_PREFORK_H

/*
 * KIND: forks a child of that kind and answers its pid (for "nested" the pid of the child's child).
 * Each child runs until it is killed or its alarm ends it.
 *   steady    spans "job" and samples of "jobs", one per millisecond
 *   thread    the same, forked by a thread other than the main one
 *   nested    the child annotates once, and its own child is a steady one
 *   doomed    waits until a capture records, begins a span "doomed" that never ends, and prints
 *             "open"
 *   exec      a span "before", then executes /bin/sleep
 *   own       a span "before", then starts its own server: answers "PID RESULT PORT_BEFORE
 *             PORT_AFTER"
 *   tracing   starts and stops a trace of its own in $TRACE_DIR, before its first annotation and
 *             after it: answers "PID START STOP START STOP" and a line of ptap_last_error(); then
 *             works like steady
 *   idle      one annotation
 *   silent    no annotation
 */
void prefork(char *arguments);

/* The endless work of a steady child. */
_Noreturn void prefork_work(void);

/*
 * N ROUNDS SPANS: forks N times ROUNDS children, N at a time. Each emits SPANS spans "short" and
 * ends. Answers the number of children.
 */
void prefork_churn(char *arguments);

/*
 * N: forks N children, which all annotate once at the same time, and end. Answers the number of
 * children.
 */
void prefork_rush(char *arguments);

/*
 * N: forks N children, which make their first annotation at the same moment. From then until the
 * program ends, each child emits every 20 ms a span "turn" and the end of a flow "baton" that the
 * program began. The answer, N, is printed before that moment.
 */
void prefork_crowd(char *arguments);
/* Answers how many children of the crowd have recorded a turn. */
void prefork_crowd_count(char *arguments);
/* Answers how many children of the crowd have had a turn while nothing was recorded. */
void prefork_crowd_out(char *arguments);

/*
 * N: forks N children, one after the other. A flow "baton" leads from a span "hand over" of the
 * program to a span "carry" of each child, which then ends. Answers the number of children.
 */
void prefork_relay(char *arguments);

#endif
