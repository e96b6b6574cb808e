/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles by nearest rank: the smallest value that so many per mille of all do not exceed. */
#ifndef TRACE_PERCENTILE_H
#define TRACE_PERCENTILE_H

#include <stddef.h>
#include <stdint.h>

/* The index of that value among |n| > 0 sorted ones; |permille| is 1 to 1000. */
size_t percentile_rank(size_t n, unsigned int permille);

/* The value itself, of |n| > 0 unsorted ones, which it reorders; in linear time. */
int64_t percentile_select(int64_t *values, size_t n, unsigned int permille);

#endif
