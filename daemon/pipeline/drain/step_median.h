/* SPDX-License-Identifier: Apache-2.0 */
/* The usual duration of a step: the median of the last ones. */
#ifndef DAEMON_STEP_MEDIAN_H
#define DAEMON_STEP_MEDIAN_H

#include <stdint.h>

/* The number of steps that are remembered: when the steps of a program become longer, the median follows in time. */
#define STEP_MEDIAN_MAX 1023u

/* All zero: no step was seen. */
struct step_median {
	uint64_t last[STEP_MEDIAN_MAX]; /* a ring */
	uint64_t sorted[STEP_MEDIAN_MAX];
	uint32_t n;
	uint32_t next; /* of |last| */
};

void step_median_add(struct step_median *m, uint64_t duration);
/* The median of the steps that are remembered, the lower one of two. 0: there is none. */
uint64_t step_median_get(const struct step_median *m);

#endif
