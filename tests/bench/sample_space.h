/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as programs make them, to measure encoding and conversion. */
#ifndef BENCH_SAMPLE_SPACE_H
#define BENCH_SAMPLE_SPACE_H

#include <stdbool.h>

struct space;

#define SAMPLE_LINES 8
#define SAMPLE_NAMES 50

/*
 * Makes |n_events| spans of SAMPLE_NAMES names on SAMPLE_LINES threads; |with_stats|: with two
 * integers each, one of which counts up. Returns 0 or -1; the caller owns *out.
 */
int sample_space_new(int n_events, bool with_stats, struct space **out);

#endif
