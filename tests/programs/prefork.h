/* SPDX-License-Identifier: Apache-2.0 */
/* Forked children of a target that may be followed. */
#ifndef TESTS_PROGRAMS_PREFORK_H
#define TESTS_PROGRAMS_PREFORK_H

/*
 * KIND: forks a child of that kind and answers with its pid (with that of its child for "nested").
 * Each lives until it is killed, and ends with its life's limit.
 *   steady    spans "job" and samples of "jobs", one each millisecond
 *   thread    the same, forked by a thread other than the main one
 *   nested    the child annotates once, and its own child is a steady one
 *   doomed    a span "doomed" that never ends, from the first moment of a capture; then it says "open"
 *   exec      a span "before", and then /bin/sleep
 *   own       a span "before", then a server of its own: answers "PID RESULT PORT OWN_PORT"
 *   tracing   a trace of its own in $TRACE_DIR is started and stopped, before the first annotation and after it:
 *             answers "PID START STOP START STOP" and with a line of ptap_last_error(); then as steady
 *   idle      one annotation
 *   silent    no annotation
 */
void prefork(char *arguments);

/* The endless work of a steady child. */
_Noreturn void prefork_work(void);

/*
 * N ROUNDS SPANS: N times ROUNDS children, N at a time, each emits SPANS spans "short" and ends.
 * Answers with the number of children.
 */
void prefork_churn(char *arguments);

/* N: so many children annotate once, all at the same time, and end. Answers with their number. */
void prefork_rush(char *arguments);

/*
 * N: so many children make their first annotation at the same moment, and then a span "turn" each
 * 20 ms and a flow "baton" that the program begins: until the program ends. Answers with N before
 * that moment.
 */
void prefork_crowd(char *arguments);
/* Says how many of the crowd have recorded a turn. */
void prefork_crowd_count(char *arguments);
/* And how many were told in a turn that nothing is recorded. */
void prefork_crowd_out(char *arguments);

/*
 * N: so many children in turn, to each of which a flow "baton" leads out of a span "hand over" of
 * the program's into a span "carry" of the child's; each ends. Answers with their number.
 */
void prefork_relay(char *arguments);

#endif
