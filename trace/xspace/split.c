/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to cut; see split.h. Some ten thousand events, evenly spaced by bytes and sorted by time, say where equal parts would
 * begin; a second walk adds up what they would have, and when one is too large, there are more parts.
 */
#include "trace/xspace/split.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/diag.h"
#include "trace/xspace/pbwire.h"
#include "trace/xspace/split_walk.h"

#define MAX_SAMPLES 65536
/* Of a plane or a line: its tag, which is one byte, and its length. */
#define HEAD_BYTES (1 + PB_PADDED_BYTES)
#define MAX_TRIES 8

struct sample {
	int64_t time_ns;
	uint64_t n_bytes; /* of events, since the sample before */
};

struct survey {
	struct sample *samples;
	size_t n_samples;
	uint64_t step_bytes;
	uint64_t pending_bytes;
	uint64_t event_bytes;
	uint64_t fixed_bytes; /* what every part has */
};

static int begin(uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	struct survey *y = context;

	(void)number, (void)message, (void)line_ns;
	y->fixed_bytes += HEAD_BYTES;
	return 0;
}

static int end(void *context)
{
	(void)context;
	return 0;
}

static int add_other(const uint8_t *p, size_t n, void *context)
{
	struct survey *y = context;

	(void)p;
	y->fixed_bytes += n;
	return 0;
}

static int sample_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct survey *y = context;

	(void)p;
	y->event_bytes += n;
	y->pending_bytes += n;
	if (y->pending_bytes < y->step_bytes || y->n_samples == MAX_SAMPLES)
		return 0;
	y->samples[y->n_samples++] = (struct sample){time_ns, y->pending_bytes};
	y->pending_bytes = 0;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int survey(const struct split *s, struct survey *y)
{
	const struct split_visitor v = {begin, end, sample_event, add_other, y};
	int r;

	y->step_bytes = s->n_bytes / MAX_SAMPLES + 1;
	y->fixed_bytes = SPLIT_MARK_BYTES;
	r = split_walk(s, &v);
	qsort(y->samples, y->n_samples, sizeof *y->samples, compare);
	return r;
}

/* Equal parts, as far as the samples tell. */
static void choose_starts(struct split *s, const struct survey *y)
{
	uint64_t n_bytes = 0;
	size_t part = 1;

	for (size_t i = 0; i < y->n_samples && part < s->n_parts; i++) {
		int64_t time_ns = y->samples[i].time_ns;
		int64_t before_ns = part > 1 ? s->starts_ns[part - 1] : y->samples[0].time_ns;

		if (n_bytes >= y->event_bytes / s->n_parts * part && time_ns > before_ns)
			s->starts_ns[part++] = time_ns;
		n_bytes += y->samples[i].n_bytes;
	}
	/* None of them is without events. */
	s->n_parts = part;
}

size_t split_find_part(const struct split *s, int64_t time_ns)
{
	size_t part = s->n_parts - 1;

	while (part > 0 && time_ns < s->starts_ns[part])
		part--;
	return part;
}

static int pass_begin(
	uint32_t number, const struct pb_field *message, int64_t line_ns, void *context)
{
	(void)number, (void)message, (void)line_ns, (void)context;
	return 0;
}

static int pass_other(const uint8_t *p, size_t n, void *context)
{
	(void)p, (void)n, (void)context;
	return 0;
}

static int add_event(int64_t time_ns, const uint8_t *p, size_t n, void *context)
{
	struct split *s = context;

	(void)p;
	s->part_bytes[split_find_part(s, time_ns)] += n;
	return 0;
}

/* Returns 1 when all parts are small enough, 0 when not, or a negative errno. */
static int try(struct split *s, const struct survey *y)
{
	const struct split_visitor v = {pass_begin, end, add_event, pass_other, s};
	int r;

	choose_starts(s, y);
	for (size_t i = 0; i < s->n_parts; i++)
		s->part_bytes[i] = y->fixed_bytes;
	r = split_walk(s, &v);
	for (size_t i = 0; i < s->n_parts && r == 0; i++)
		if (s->part_bytes[i] > s->max_bytes)
			return 0;
	return r < 0 ? r : 1;
}

static int fail_large(const struct split *s, struct diag *d, const char *why)
{
	return diag_set(
		d, -EFBIG, "not split into files of %" PRIu64 " bytes: %s", s->max_bytes, why);
}

static int fail_walk(int r, struct diag *d)
{
	return diag_set(d, r, "not split: %s", errno_words(r));
}

static int plan(struct split *s, const struct survey *y, struct diag *d)
{
	uint64_t room_bytes;
	uint64_t n;

	if (y->fixed_bytes >= s->max_bytes)
		return fail_large(s, d, "the names of its events and threads alone have more");
	room_bytes = s->max_bytes - y->fixed_bytes;
	n = y->event_bytes / room_bytes + 1;
	for (int i = 0; i < MAX_TRIES && n <= SPLIT_MAX_PARTS; i++, n += 1 + n / 8) {
		int r;

		s->n_parts = n;
		r = try(s, y);
		if (r)
			return r < 0 ? fail_walk(r, d) : 0;
	}
	if (n > SPLIT_MAX_PARTS)
		return fail_large(s, d, "there would be more than 256");
	return fail_large(s, d, "too much of it begins at one time");
}

int split_plan(struct split *s, struct diag *d)
{
	struct survey y = {.samples = calloc(MAX_SAMPLES, sizeof *y.samples)};
	int r;

	if (!y.samples)
		return diag_set(d, -ENOMEM, "not split: out of memory");
	r = survey(s, &y);
	r = r ? fail_walk(r, d) : plan(s, &y, d);
	free(y.samples);
	return r;
}
