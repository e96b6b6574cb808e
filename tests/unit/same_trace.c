/* SPDX-License-Identifier: Apache-2.0 */
/* Compares traces; see same_trace.h. */
#include "tests/unit/same_trace.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/spool_fixture.h"
#include "trace/model/space.h"

/*
 * The check library writes to a pipe at each assertion. There are a million comparisons here, so
 * only failing ones assert.
 */
static void expect_number(int64_t a, int64_t b)
{
	if (a != b)
		ck_assert_int_eq(a, b);
}

static void expect_text(const char *a, const char *b)
{
	if (strcmp(a, b) != 0)
		ck_assert_str_eq(a, b);
}

static void expect_same_stats(const struct plane *a, const struct trace_stat *x,
	const struct plane *b, const struct trace_stat *y)
{
	for (; x && y; x = stat_next(x), y = stat_next(y)) {
		expect_text(names_get(&a->stat_names, x->name), names_get(&b->stat_names, y->name));
		expect_number(x->type, y->type);
		if (x->type == STAT_STRING)
			expect_text(names_get(&a->stat_names, x->value.string),
				names_get(&b->stat_names, y->value.string));
		else
			expect_number(x->value.i64, y->value.i64);
	}
	expect_number(!x, !y);
}

static void expect_same_line(
	const struct plane *a, const struct line *x, const struct plane *b, const struct line *y)
{
	expect_number(x->id, y->id);
	expect_text(x->name, y->name);
	ck_assert_uint_eq(x->n_events, y->n_events);
	for (size_t i = 0; i < x->n_events; i++) {
		const struct trace_event *e = &x->events[i];
		const struct trace_event *f = &y->events[i];

		expect_number(e->start_ns, f->start_ns);
		expect_number(e->duration_ns, f->duration_ns);
		expect_text(
			names_get(&a->event_names, e->name), names_get(&b->event_names, f->name));
		expect_same_stats(a, plane_get_stats(a, e), b, plane_get_stats(b, f));
	}
}

static void expect_same_plane(const struct plane *p, const struct plane *q)
{
	ck_assert_ptr_nonnull(q);
	ck_assert_int_eq(p->id, q->id);
	ck_assert_uint_eq(p->n_lines, q->n_lines);
	for (size_t i = 0; i < p->n_lines; i++)
		expect_same_line(p, &p->lines[i], q, &q->lines[i]);
}

void same_trace_expect(const uint8_t *left, size_t n_left, const uint8_t *right, size_t n_right)
{
	struct space *a = spooled_decode(left, n_left);
	struct space *b = spooled_decode(right, n_right);

	ck_assert_uint_eq(a->n_planes, b->n_planes);
	for (size_t i = 0; i < a->n_planes; i++)
		expect_same_plane(a->planes[i], space_find_plane(b, a->planes[i]->name));
	ck_assert_uint_eq(a->warnings.n_texts, b->warnings.n_texts);
	space_free(a);
	space_free(b);
}
