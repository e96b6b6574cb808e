/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a picture of the trace at this moment; see picture.h. */
#include "tests/crash/picture.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/timeline.h"
#include "tests/unit/guest_fixture.h"
#include "trace/model/space.h"

#define TEXT_BYTES 4096
/* The length of a capture, in ticks; each counts as a nanosecond. */
#define LONGEST (INT64_C(1) << 46)

static void add_row(
	struct picture *p, const char *text, const struct trace_event *event, bool is_unfinished)
{
	static size_t n_allocated;

	if (!p->rows)
		n_allocated = 0;
	ck_assert_int_eq(grow(&p->rows, &n_allocated, p->n + 1), 0);
	p->rows[p->n++] = (struct picture_row){
		.text = strdup(text),
		.start = event ? event->start_ns : 0,
		.end = event ? event->start_ns + event->duration_ns : 0,
		.is_unfinished = is_unfinished,
	};
}

static int print_stat(
	const struct plane *plane, const struct trace_stat *stat, char *to, size_t size)
{
	const char *name = names_get(&plane->stat_names, stat->name);

	switch (stat->type) {
	case STAT_INT64:
		return snprintf(to, size, " %s=%" PRId64, name, stat->value.i64);
	case STAT_UINT64:
		return snprintf(to, size, " %s=%" PRIu64, name, stat->value.u64);
	case STAT_DOUBLE:
		return snprintf(to, size, " %s=%g", name, stat->value.f64);
	case STAT_STRING:
		return snprintf(to, size, " %s='%s'", name,
			names_get(&plane->stat_names, stat->value.string));
	}
	return snprintf(to, size, " %s=?", name);
}

static void add_event(
	struct picture *p, const struct plane *plane, const struct line *line, size_t i)
{
	const struct trace_event *event = &line->events[i];
	const struct trace_stat *stat = plane_get_stats(plane, event);
	bool is_unfinished = false;
	char text[TEXT_BYTES];
	int n = snprintf(text, sizeof text, "%s: '%s'", line->name,
		names_get(&plane->event_names, event->name));

	for (; stat && n < TEXT_BYTES; stat = stat_next(stat)) {
		if (strcmp(names_get(&plane->stat_names, stat->name), "unfinished") == 0)
			is_unfinished = true;
		n += print_stat(plane, stat, text + n, sizeof text - (size_t)n);
	}
	ck_assert_int_lt(n, TEXT_BYTES);
	add_row(p, text, event, is_unfinished);
}

static void add_losses(struct picture *p, const struct plane *plane)
{
	for (size_t i = 0; i < plane->n_plane_stats; i++) {
		char text[TEXT_BYTES];

		if (plane->plane_stats[i].type != STAT_UINT64)
			continue;
		print_stat(plane, &plane->plane_stats[i], text, sizeof text);
		add_row(p, text, NULL, false);
	}
}

static void read_space(struct picture *p, const struct space *space)
{
	const struct plane *plane = space_find_plane(space, PLANE_HOST);

	ck_assert_ptr_nonnull(plane);
	for (size_t i = 0; i < plane->n_lines; i++)
		for (size_t k = 0; k < plane->lines[i].n_events; k++)
			add_event(p, plane, &plane->lines[i], k);
	add_losses(p, plane);
}

static void assemble(struct picture *p, struct drain *drain, const struct picture_capture *capture,
	uint64_t now_ticks)
{
	struct timeline timeline;
	struct space *space;
	struct assemble_input in = {
		.drain = drain,
		.timeline = &timeline,
		.earliest_ticks = capture->start_ticks,
		.start_ticks = capture->start_ticks,
		.window_ticks = capture->start_ticks,
		.stop_ticks = now_ticks,
		.uses_ticks = 1,
		.plane_name = PLANE_HOST,
	};

	timeline_init(&timeline, 1);
	ck_assert_int_eq(timeline_add(&timeline, (struct clock_pair){capture->start_ticks, 0}), 0);
	ck_assert_int_eq(
		timeline_add(&timeline,
			(struct clock_pair){capture->start_ticks + (uint64_t)LONGEST, LONGEST}),
		0);
	in.stop_ns = timeline_convert(&timeline, now_ticks);
	ck_assert_int_eq(space_new(&space), 0);
	ck_assert_int_eq(assemble_host_plane(&in, space), 0);
	read_space(p, space);
	space_free(space);
	timeline_deinit(&timeline);
}

/* Drains the rings and then restores their tails, so that the program does not notice the drain. */
static void drain_and_put_back(struct drain *drain)
{
	uint64_t tails[FIXTURE_RINGS];
	int error = 0;

	for (uint32_t i = 0; i < fixture.target.n_rings; i++)
		tails[i] = atomic_load(&fixture_ring(i)->tail);
	drain_finish(drain, &error);
	ck_assert_int_eq(error, 0);
	for (uint32_t i = 0; i < fixture.target.n_rings; i++)
		atomic_store(&fixture_ring(i)->tail, tails[i]);
}

void picture_take(
	struct picture *p, const struct picture_capture *capture, int32_t pid, uint64_t now_ticks)
{
	struct drain_budget budget = {.max_bytes = 64u << 20};
	struct drain drain;

	*p = (struct picture){NULL, 0};
	if (!capture->word)
		return;
	fixture.target.pid = pid;
	memcpy(fixture.target.tail, capture->tail, sizeof capture->tail);
	drain_init(&drain, &fixture.target, &budget);
	drain.lost_no_ring_before = capture->lost_no_ring;
	drain_begin(&drain, capture->word);
	drain_and_put_back(&drain);
	ck_assert_uint_eq(drain.n_broken, 0);
	assemble(p, &drain, capture, now_ticks);
	drain_deinit(&drain);
}

void picture_free(struct picture *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->rows[i].text);
	free(p->rows);
	*p = (struct picture){NULL, 0};
}

bool picture_is_same(const struct picture *a, const struct picture *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->rows[i].text, b->rows[i].text) != 0)
			return false;
	return true;
}

static bool has(const struct picture *p, const char *text)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->rows[i].text, text) == 0)
			return true;
	return false;
}

/*
 * Returns true if the text is a loss counter. Losses are counted between the records, and their
 * number changes.
 */
static bool is_count(const char *text)
{
	return text[0] == ' ';
}

bool picture_is_between(
	const struct picture *p, const struct picture *before, const struct picture *after)
{
	for (size_t i = 0; i < p->n; i++)
		if (!is_count(p->rows[i].text) && !has(before, p->rows[i].text) &&
			!has(after, p->rows[i].text))
			return false;
	for (size_t i = 0; i < before->n; i++)
		if (!is_count(before->rows[i].text) && has(after, before->rows[i].text) &&
			!has(p, before->rows[i].text))
			return false;
	return true;
}

void picture_print(const struct picture *p, const char *title)
{
	printf("# %s: %zu rows\n", title, p->n);
	for (size_t i = 0; i < p->n && i < 40; i++)
		printf("#   %s @%" PRId64 "..%" PRId64 "\n", p->rows[i].text, p->rows[i].start,
			p->rows[i].end);
}
