/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline, to which a test adds the pairs that a server would have read. */
#ifndef TESTS_UNIT_TIMELINE_FIXTURE_H
#define TESTS_UNIT_TIMELINE_FIXTURE_H

#include <stdint.h>

#include "daemon/target/timeline.h"

extern struct timeline timeline;

/* A checked fixture of a test case: a timeline of ticks, without a pair. */
void timeline_fixture_open(void);
void timeline_fixture_close(void);
/* Replaces it by a timeline of nanoseconds. */
void timeline_fixture_reopen_without_ticks(void);

void add_pair(uint64_t ticks, int64_t ns);

/* A clock whose rate swings by |share| to either side in |period_s|: ns after |seconds|. */
int64_t swing_ns(double seconds, double share, double period_s);

#endif
