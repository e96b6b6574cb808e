/* SPDX-License-Identifier: Apache-2.0 */
/* Computes covered time and gaps. */
#include "trace/report/busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/saturate.h"

void busy_init(struct busy *b, int64_t begin_ns, int64_t end_ns)
{
	*b = (struct busy){
		.begin_ns = begin_ns, .end_ns = end_ns, .until_ns = begin_ns, .last = BUSY_NO_NAME};
}

int64_t gap_get_length(const struct idle_gap *gap)
{
	return sub_saturated(gap->end_ns, gap->start_ns);
}

void busy_deinit(struct busy *b)
{
	free(b->gaps);
	b->gaps = NULL;
	b->n_gaps = 0;
}

/* Grows by one gap at a time: most threads have few gaps, and there may be a million threads. */
static int busy_reserve_gap(struct busy *b)
{
	struct idle_gap *gaps;

	if (b->n_gaps == BUSY_GAPS)
		return 0;
	gaps = reallocarray(b->gaps, b->n_gaps + 1, sizeof *gaps);
	if (!gaps)
		return -ENOMEM;
	b->gaps = gaps;
	b->n_gaps++;
	return 0;
}

static int busy_add_gap(struct busy *b, struct idle_gap gap)
{
	size_t i = b->n_gaps;

	while (i > 0 && gap_get_length(&b->gaps[i - 1]) < gap_get_length(&gap))
		i--;
	if (i == BUSY_GAPS)
		return 0;
	if (busy_reserve_gap(b))
		return -ENOMEM;
	memmove(&b->gaps[i + 1], &b->gaps[i], (b->n_gaps - i - 1) * sizeof gap);
	b->gaps[i] = gap;
	return 0;
}

int busy_add(struct busy *b, int64_t start_ns, int64_t end_ns, uint32_t name)
{
	if (end_ns > b->end_ns)
		end_ns = b->end_ns;
	if (start_ns < b->begin_ns)
		start_ns = b->begin_ns;
	if (end_ns <= b->until_ns || end_ns <= start_ns)
		return 0;
	if (start_ns > b->until_ns) {
		if (busy_add_gap(b, (struct idle_gap){b->until_ns, start_ns, b->last, name}))
			return -ENOMEM;
		b->until_ns = start_ns;
	}
	b->busy_ns = add_saturated(b->busy_ns, sub_saturated(end_ns, b->until_ns));
	b->until_ns = end_ns;
	b->last = name;
	return 0;
}

int busy_finish(struct busy *b)
{
	struct idle_gap gap = {b->until_ns, b->end_ns, b->last, BUSY_NO_NAME};
	int r = b->until_ns < b->end_ns ? busy_add_gap(b, gap) : 0;

	b->until_ns = b->end_ns;
	return r;
}

int busy_copy(struct busy *b, const struct busy *from)
{
	*b = *from;
	b->gaps = reallocarray(NULL, from->n_gaps + 1, sizeof *b->gaps);
	if (!b->gaps) {
		b->n_gaps = 0;
		return -ENOMEM;
	}
	if (from->n_gaps)
		memcpy(b->gaps, from->gaps, from->n_gaps * sizeof *b->gaps);
	return 0;
}

double busy_get_share(const struct busy *b)
{
	double length = (double)b->end_ns - (double)b->begin_ns;

	return length > 0 ? (double)b->busy_ns / length : 0;
}
