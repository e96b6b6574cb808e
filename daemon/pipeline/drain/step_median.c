/* SPDX-License-Identifier: Apache-2.0 */
/* The median of the last steps; see step_median.h. */
#include "daemon/pipeline/drain/step_median.h"

#include <string.h>

/* The index of the first duration in |sorted| that is not less. */
static uint32_t find_place(const struct step_median *m, uint64_t duration)
{
	uint32_t from = 0;
	uint32_t to = m->n;

	while (from < to) {
		uint32_t middle = (from + to) / 2;

		if (m->sorted[middle] < duration)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void median_forget(struct step_median *m, uint64_t duration)
{
	uint32_t at = find_place(m, duration);

	m->n--;
	memmove(&m->sorted[at], &m->sorted[at + 1], (m->n - at) * sizeof *m->sorted);
}

void step_median_add(struct step_median *m, uint64_t duration)
{
	uint32_t at;

	if (m->n == STEP_MEDIAN_MAX)
		median_forget(m, m->last[m->next]);
	m->last[m->next] = duration;
	m->next = (m->next + 1) % STEP_MEDIAN_MAX;
	at = find_place(m, duration);
	memmove(&m->sorted[at + 1], &m->sorted[at], (m->n - at) * sizeof *m->sorted);
	m->sorted[at] = duration;
	m->n++;
}

uint64_t step_median_get(const struct step_median *m)
{
	return m->n ? m->sorted[(m->n - 1) / 2] : 0;
}
