/* SPDX-License-Identifier: Apache-2.0 */
/* Events that a target emits, in numbers that the tests choose. Each call answers with one line. */
#ifndef TESTS_PROGRAMS_WORKLOAD_H
#define TESTS_PROGRAMS_WORKLOAD_H

#include <stdint.h>
#include <time.h>

int64_t workload_clock_ns(clockid_t clock);

/* Returns when spans of |level| are recorded. */
void workload_await(int level);

/* Returns when threads record, which they do some time before a start that was agreed upon. */
void workload_await_early(void);

/* NUMBER ...: samples of the counter "queue". */
void workload_gauge(char *arguments);

/* begin|end ID: a half of an async span "request". */
void workload_async(char *arguments);

/*
 * COUNT: so many spans "labelled" with a text of 36 bytes as argument, each another one, paced so
 * that a server keeps up.
 */
void workload_label(char *arguments);

/* COUNT: so many spans with such texts as their names, paced likewise. */
void workload_name(char *arguments);

/*
 * COUNT BEGIN_NOISE END_NOISE IDS: so many async spans "request", one at a time, that a thread
 * "beginner" begins and a thread "ender" ends; each writes so many spans "noise" with every one.
 * Ids go round below IDS. Answers the longest of them in ns.
 */
void workload_requests(char *arguments);

/* COUNT: so many spans "burst", as fast as it goes. */
void workload_burst(char *arguments);

/*
 * COUNT [MICROSECONDS]: so many times the same two places in the source, with a pause after each.
 */
void workload_cycle(char *arguments);

/*
 * COUNT: so many times a span "flood" with an argument in a span "wave", paced so that a server
 * keeps up.
 */
void workload_flood(char *arguments);

/*
 * COUNT: so many spans "heavy" with eight arguments, some 130 bytes of a file each, paced so that a
 * server keeps up.
 */
void workload_heavy(char *arguments);

/*
 * COUNT MICROSECONDS: spans "paced" of that length, each measured. Answers "UNIX:LENGTH ..." in ns;
 * the measurement is outside of the span.
 */
void workload_paced(char *arguments);

/*
 * N MICROSECONDS: spans "number" with their number; a pause of a thousand times that behind each
 * thousandth.
 */
void workload_count(char *arguments);

/* MILLISECONDS of processor time. */
void workload_spin(char *arguments);

/* LEVEL MILLISECONDS: waits for the recording, then makes a step "slow", number 7. */
void workload_step(char *arguments);

/*
 * NAME=ROUNDS ...: a thread each, which waits for the recording, emits one of each annotation per
 * round and ends. Answers "NAME=TID ...".
 */
void workload_threads(char *arguments);

/*
 * FILE: three threads that wait for the recording and then emit until the program ends. FILE is
 * mapped: the i-th uint64 counts thread i's rounds, each after its spans have ended. Answers "TID
 * TID TID".
 */
void workload_steady(char *arguments);

#endif
