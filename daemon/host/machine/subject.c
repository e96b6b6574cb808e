/* SPDX-License-Identifier: Apache-2.0 */
/* Measured things and their metrics; see subject.h. */
#include "daemon/host/machine/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static float *slot_of(struct subject *s, uint64_t n)
{
	return &s->values[n % HISTORY_SLOTS * s->n_rows];
}

static void subject_clear_sample(struct subject *s, uint64_t n)
{
	float *slot = slot_of(s, n);

	for (unsigned i = 0; i < s->n_rows; i++)
		slot[i] = NAN;
}

struct subject *subject_new(
	const struct metric_group *group, uint64_t id, const char *name, unsigned n_rows)
{
	struct subject *s = calloc(1, sizeof *s + n_rows * HISTORY_SLOTS * sizeof *s->values);

	if (!s)
		return NULL;
	s->group = group;
	s->id = id;
	s->n_rows = n_rows;
	strncpy(s->name, name, sizeof s->name - 1);
	return s;
}

void subject_begin(struct subject *s, uint64_t n)
{
	uint64_t gap = n - s->last < HISTORY_SAMPLES ? n - s->last : HISTORY_SAMPLES;

	if (gap > 1) {
		memset(s->counts, 0, sizeof s->counts);
		memset(s->counts_before, 0, sizeof s->counts_before);
	}
	subject_clear_sample(s, n);
	for (uint64_t i = 1; i < gap; i++)
		subject_clear_sample(s, n - i);
	s->last = n;
}

void subject_begin_peek(struct subject *s, enum peek peek)
{
	s->peek = peek;
	subject_clear_sample(s, ++s->last);
}

void subject_end_peek(struct subject *s)
{
	if (s->peek != PEEK_NONE)
		s->last--;
	s->peek = PEEK_NONE;
}

void subject_set(struct subject *s, unsigned row, double value)
{
	if (s->n_rows)
		slot_of(s, s->last)[row] = (float)value;
}

static void set_rate(
	struct subject *s, unsigned row, const struct count *from, const struct count *to)
{
	int64_t passed_ns = to->at_ns - from->at_ns;

	if (passed_ns > 0)
		subject_set(s, row,
			s->group->rows[row].scale * (double)(to->total - from->total) *
				(double)NS_PER_S / (double)passed_ns);
}

void subject_count(struct subject *s, unsigned row, uint64_t total, int64_t now_ns)
{
	struct count *last = &s->counts[row];
	struct count *before = &s->counts_before[row];
	bool has_gone_back = total < last->total;

	if (last->at_ns && !has_gone_back)
		set_rate(s, row, s->peek == PEEK_SHORT && before->at_ns ? before : last,
			&(struct count){total, now_ns});
	if (s->peek != PEEK_NONE)
		return;
	*before = has_gone_back ? (struct count){0} : *last;
	*last = (struct count){total, now_ns};
}

void subject_repeat(struct subject *s, unsigned row)
{
	if (s->last > s->first)
		subject_set(s, row, subject_get(s, row, s->last - 1));
}

double subject_get(const struct subject *s, unsigned row, uint64_t n)
{
	if (row >= s->n_rows || n < s->first || n > s->last || s->last - n >= HISTORY_SAMPLES)
		return (double)NAN;
	return (double)s->values[n % HISTORY_SLOTS * s->n_rows + row];
}

/* --- metrics ---------------------------------------------------------------------------------- */

const char *metric_unit_text(enum metric_unit unit)
{
	static const char *const texts[N_METRIC_UNITS] = {
		[METRIC_COUNT] = "",
		[METRIC_PERCENT] = " %",
		[METRIC_BYTES] = " bytes",
		[METRIC_PER_S] = "/s",
		[METRIC_BYTES_PER_S] = " bytes/s",
		[METRIC_MHZ] = " MHz",
		[METRIC_WATT] = " W",
		[METRIC_CELSIUS] = " °C",
	};

	return texts[unit];
}
