/* SPDX-License-Identifier: Apache-2.0 */
/* How long a step takes as a rule: the median of the last ones. */
#ifndef DAEMON_STEP_MEDIAN_H
#define DAEMON_STEP_MEDIAN_H

#include <stdint.h>

/* So many of the last ones are known: a program whose steps become longer has a new usual one in time. */
#define STEP_MEDIAN_MAX 1023u

/* All zero: none was seen. */
struct step_median {
	uint64_t last[STEP_MEDIAN_MAX]; /* a ring */
	uint64_t sorted[STEP_MEDIAN_MAX];
	uint32_t n;
	uint32_t next; /* of |last| */
};

void step_median_add(struct step_median *m, uint64_t duration);
/* Of those that were added; half of them, or one more, are not longer. 0: there is none. */
uint64_t step_median_get(const struct step_median *m);

#endif
