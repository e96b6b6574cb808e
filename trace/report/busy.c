/* SPDX-License-Identifier: Apache-2.0 */
/* Covered time and gaps; see busy.h. */
#include "trace/report/busy.h"

#include <string.h>

#include "trace/saturate.h"

void busy_init(struct busy *b, int64_t begin_ns, int64_t end_ns)
{
	*b = (struct busy){
		.begin_ns = begin_ns, .end_ns = end_ns, .until_ns = begin_ns, .last = BUSY_NO_NAME};
}

int64_t gap_get_length(const struct gap *gap)
{
	return sub_saturated(gap->end_ns, gap->start_ns);
}

static void add_gap(struct busy *b, struct gap gap)
{
	size_t i = b->n_gaps;

	while (i > 0 && gap_get_length(&b->gaps[i - 1]) < gap_get_length(&gap))
		i--;
	if (i == BUSY_GAPS)
		return;
	b->n_gaps += b->n_gaps < BUSY_GAPS;
	memmove(&b->gaps[i + 1], &b->gaps[i], (b->n_gaps - i - 1) * sizeof gap);
	b->gaps[i] = gap;
}

void busy_add(struct busy *b, int64_t start_ns, int64_t end_ns, uint32_t name)
{
	if (end_ns > b->end_ns)
		end_ns = b->end_ns;
	if (start_ns < b->begin_ns)
		start_ns = b->begin_ns;
	if (end_ns <= b->until_ns || end_ns <= start_ns)
		return;
	if (start_ns > b->until_ns) {
		add_gap(b, (struct gap){b->until_ns, start_ns, b->last, name});
		b->until_ns = start_ns;
	}
	b->busy_ns = add_saturated(b->busy_ns, sub_saturated(end_ns, b->until_ns));
	b->until_ns = end_ns;
	b->last = name;
}

void busy_finish(struct busy *b)
{
	if (b->until_ns < b->end_ns)
		add_gap(b, (struct gap){b->until_ns, b->end_ns, b->last, BUSY_NO_NAME});
	b->until_ns = b->end_ns;
}

double busy_get_share(const struct busy *b)
{
	double length = (double)b->end_ns - (double)b->begin_ns;

	return length > 0 ? (double)b->busy_ns / length : 0;
}
