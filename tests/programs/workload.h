/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of a target that emit events in chosen numbers. Each answers with one line. */
#ifndef TESTS_PROGRAMS_WORKLOAD_H
#define TESTS_PROGRAMS_WORKLOAD_H

#include <stdint.h>
#include <time.h>

int64_t workload_clock_ns(clockid_t clock);

/* Returns when spans of |level| are recorded. */
void workload_await(int level);

/* Returns when threads record, which may be some time before the agreed start of a capture. */
void workload_await_early(void);

/* NUMBER ...: emits these samples of the counter "queue". */
void workload_gauge(char *arguments);

/* begin|end ID: begins or ends an async span "request". */
void workload_async(char *arguments);

/*
 * COUNT: emits that many spans "labelled", each with a different text of 36 bytes as argument,
 * paced so that a server keeps up.
 */
void workload_label(char *arguments);

/*
 * COUNT: emits that many spans, each with a different text of 36 bytes as its name, paced so that
 * a server keeps up.
 */
void workload_name(char *arguments);

/*
 * COUNT BEGIN_NOISE END_NOISE IDS: emits that many async spans "request", one at a time. A thread
 * "beginner" begins them and a thread "ender" ends them; with each span these threads emit
 * BEGIN_NOISE and END_NOISE spans "noise". Ids repeat after IDS spans. Answers the duration of the
 * longest request in ns.
 */
void workload_requests(char *arguments);

/* COUNT: emits that many spans "burst", as fast as possible. */
void workload_burst(char *arguments);

/*
 * COUNT [MICROSECONDS]: runs two annotated places of the source COUNT times, with a pause after
 * each round.
 */
void workload_cycle(char *arguments);

/*
 * COUNT: emits that many spans "flood" with an argument, each in a span "wave", paced so that a
 * server keeps up.
 */
void workload_flood(char *arguments);

/*
 * COUNT: emits that many spans "heavy" with eight arguments, about 130 bytes of a file each, paced
 * so that a server keeps up.
 */
void workload_heavy(char *arguments);

/*
 * COUNT MICROSECONDS: emits spans "paced" of that length and measures each from outside the span.
 * Answers "UNIX:LENGTH ..." in ns.
 */
void workload_paced(char *arguments);

/*
 * N MICROSECONDS: emits N spans "number", each with its number. After every thousandth span comes a
 * pause of a thousand times MICROSECONDS.
 */
void workload_count(char *arguments);

/* MILLISECONDS: uses that much processor time. */
void workload_spin(char *arguments);

/*
 * LEVEL MILLISECONDS: waits until spans of LEVEL are recorded, then emits a step "slow" with number
 * 7, of that length.
 */
void workload_step(char *arguments);

/*
 * NAME=ROUNDS ...: starts a thread for each. It waits until a capture records, emits one of each
 * annotation per round and ends. Answers "NAME=TID ...".
 */
void workload_threads(char *arguments);

/*
 * FILE: starts three threads that wait until a capture records and then emit until the program
 * ends. FILE is mapped: thread i adds 1 to its i-th uint64 after the spans of each round have
 * ended. Answers "TID TID TID".
 */
void workload_steady(char *arguments);

#endif
