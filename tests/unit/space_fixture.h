/* SPDX-License-Identifier: Apache-2.0 */
/* A space with one host plane and one line, to which a test adds. */
#ifndef TESTS_UNIT_SPACE_FIXTURE_H
#define TESTS_UNIT_SPACE_FIXTURE_H

#include <stdint.h>

#include "trace/model/space.h"

extern struct space *space;
extern struct plane *plane;
extern struct line *line; /* used by add(); initially the line of the thread main, 42 */

/* A checked fixture of a test case. */
void space_fixture_open(void);
void space_fixture_close(void);

/* Adds an event to |line| with the stats that int_stats() or double_stat() returned, or 0. */
void add(const char *name, int64_t start_ns, int64_t duration_ns, uint32_t stats);
/* Two stats; the second one is 1. */
uint32_t int_stats(const char *first, int64_t first_value, const char *second);
uint32_t double_stat(double value);

/*
 * Adds spans: "many" comes first by count, "long" by p99 and max, "even" by p50, "total" by total
 * and self time.
 */
void add_rivals(void);

/* Adds two lines of async spans, requests, beside a thread with both ends of a flow. */
void add_asyncs(void);

/*
 * Adds a plane of process 7 with two samples of the thread main, 42: it ran at 15, and waited from
 * 25 to 65. The stack is main() of /bin/train, which called work(), which has no file.
 */
void add_samples(void);

#endif
