/* SPDX-License-Identifier: Apache-2.0 */
/* Sums that stay at the end of their range: times in a foreign file can have any value. */
#ifndef TRACE_SATURATE_H
#define TRACE_SATURATE_H

#include <stdint.h>

static inline int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline int64_t sub_saturated(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* |a| is not negative. */
static inline int64_t mul_saturated(int64_t a, uint64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

#endif
