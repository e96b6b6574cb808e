/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the functions of two traces by their shares of the CPU samples. Samples that follow each
 * other are often in the same function, so the test is that of shares of spans (stretches.h): a
 * sample is a span, and one that has the function is above the limit.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/report/diff.h"
#include "trace/report/diff_test.h"
#include "trace/report/functions.h"

/* Places in stretch.n_above. */
enum {
	ABOVE_SELF,
	ABOVE_TOTAL
};

/* Numbers of samples in each of the side's stretches. */
struct function_counts {
	uint32_t function; /* index into the texts of the view's stacks */
	uint64_t self[STRETCHES_MOST];
	uint64_t total[STRETCHES_MOST];
};

struct functions_side {
	const struct pace_side *pace;
	const struct view *view;
	struct stretches samples;
	struct stack_functions stack;
	uint32_t *places; /* by function: place in |v|, + 1 */
	struct function_counts *v;
	size_t n;
	size_t n_allocated;
};

static const struct function_counts no_counts = {.function = 0};

/* --- reading ------------------------------------------------------------------------------- */

static int add_to_stretches(void *context, const struct item *item)
{
	static const int64_t limits_ns[STRETCHES_LIMITS] = {1, 1, 1, 1};
	struct functions_side *s = context;

	if (item_is_waiting(item) || item->stack == STACKS_NONE)
		return 0;
	return stretches_add(&s->samples, pace_find_moment(s->pace, item->start_ns), 0, limits_ns);
}

/* Returns the place of the stretch in which the sample lies. */
static size_t find_stretch(struct functions_side *s, const struct item *item)
{
	uint32_t index = pace_find_moment(s->pace, item->start_ns) >> s->samples.shift;
	size_t i = 0;

	while (i + 1 < s->samples.n && s->samples.v[i].index != index)
		i++;
	return i;
}

static struct function_counts *take_counts(struct functions_side *s, uint32_t function)
{
	if (!s->places[function]) {
		if (grow(&s->v, &s->n_allocated, s->n + 1))
			return NULL;
		s->v[s->n] = (struct function_counts){.function = function};
		s->places[function] = (uint32_t)++s->n;
	}
	return &s->v[s->places[function] - 1];
}

static int count_functions(void *context, const struct item *item)
{
	struct functions_side *s = context;
	size_t stretch;

	if (item_is_waiting(item) || item->stack == STACKS_NONE)
		return 0;
	stretch = find_stretch(s, item);
	stack_functions_read(&s->stack, item->stack);
	for (size_t i = 0; i < s->stack.n; i++) {
		struct function_counts *counts = take_counts(s, s->stack.v[i]);

		if (!counts)
			return -ENOMEM;
		counts->self[stretch] += i == 0;
		counts->total[stretch]++;
	}
	return 0;
}

static int side_read_all(struct functions_side *s, cursor_reader *reader, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < s->view->n_samples && !r; i++)
		r = cursor_read(s->view, &s->view->samples[i], reader, s, d);
	return r;
}

/* The lengths of the stretches are known when all samples were read once. */
static int side_read(struct functions_side *s, const struct pace_side *pace, struct diag *d)
{
	int r;

	s->pace = pace;
	s->view = pace->digest->view;
	s->samples.n_keys = PACE_MOMENTS;
	s->places = calloc((size_t)s->view->stacks.texts.n_texts + 1, sizeof *s->places);
	if (!s->places || stack_functions_init(&s->stack, &s->view->stacks))
		return -ENOMEM;
	r = side_read_all(s, add_to_stretches, d);
	return r ? r : side_read_all(s, count_functions, d);
}

static void side_deinit(struct functions_side *s)
{
	stretches_deinit(&s->samples);
	stack_functions_deinit(&s->stack);
	free(s->places);
	free(s->v);
}

static uint64_t side_count_samples(const struct functions_side *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->samples.n; i++)
		n += s->samples.v[i].n;
	return n;
}

/* --- tests --------------------------------------------------------------------------------- */

static uint64_t sum_counts(const uint64_t counts[STRETCHES_MOST])
{
	uint64_t n = 0;

	for (size_t i = 0; i < STRETCHES_MOST; i++)
		n += counts[i];
	return n;
}

/* Makes stretches in |v| with the function's samples above the limits. */
static struct stretches copy_stretches(const struct functions_side *s,
	const struct function_counts *counts, struct stretch v[STRETCHES_MOST])
{
	struct stretches copy = s->samples;

	copy.v = v;
	for (size_t i = 0; i < copy.n; i++) {
		v[i] = s->samples.v[i];
		v[i].n_above[ABOVE_SELF] = counts->self[i];
		v[i].n_above[ABOVE_TOTAL] = counts->total[i];
	}
	return copy;
}

static struct diff_measure measure_shares(const struct diff_functions *out, const uint64_t n[2])
{
	struct diff_measure m = {.p = -1, .p_corrected = -1, .verdict = DIFF_TOO_FEW};

	m.a = (double)n[0] / (double)out->n_samples[0];
	m.b = (double)n[1] / (double)out->n_samples[1];
	m.change = diff_find_change(m.a, m.b);
	return m;
}

static bool is_tested(const uint64_t n[2])
{
	return n[0] >= STRETCHES_FEWEST || n[1] >= STRETCHES_FEWEST;
}

static void test_function(struct diff_function *f, const struct functions_side sides[2],
	const struct function_counts *a, const struct function_counts *b)
{
	struct stretch in_a[STRETCHES_MOST];
	struct stretch in_b[STRETCHES_MOST];
	struct stretches s_a = copy_stretches(&sides[0], a, in_a);
	struct stretches s_b = copy_stretches(&sides[1], b, in_b);

	do {
		if (is_tested(f->n_self))
			diff_measure_set_test(
				&f->self, stretches_test_above(&s_a, &s_b, ABOVE_SELF));
		if (is_tested(f->n_total))
			diff_measure_set_test(
				&f->total, stretches_test_above(&s_a, &s_b, ABOVE_TOTAL));
	} while (stretches_widen_both(&s_a, &s_b));
	diff_measure_check_direction(&f->self);
	diff_measure_check_direction(&f->total);
}

static void add_function(struct diff_functions *out, const struct functions_side sides[2],
	const char *name, const struct function_counts *a, const struct function_counts *b)
{
	struct diff_function *f = &out->v[out->n++];

	a = a ? a : &no_counts;
	b = b ? b : &no_counts;
	*f = (struct diff_function){
		.name = name,
		.n_self = {sum_counts(a->self), sum_counts(b->self)},
		.n_total = {sum_counts(a->total), sum_counts(b->total)},
	};
	f->self = measure_shares(out, f->n_self);
	f->total = measure_shares(out, f->n_total);
	test_function(f, sides, a, b);
}

/* --- correction and order ------------------------------------------------------------------ */

/* True if the function called no other one, so that both tests are the same. */
static bool function_is_leaf(const struct diff_function *f)
{
	return f->n_self[0] == f->n_total[0] && f->n_self[1] == f->n_total[1];
}

static void measure_conclude(struct diff_measure *m)
{
	if (m->p >= 0)
		m->verdict = m->p_corrected < DIFF_P ? DIFF_SURE : DIFF_NOT_SURE;
}

static int conclude(struct diff_functions *out)
{
	_cleanup_free_ struct diff_p_value *values = calloc(2 * out->n + 1, sizeof *values);

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < out->n; i++) {
		struct diff_function *f = &out->v[i];

		if (f->self.p >= 0)
			values[out->n_tests++] =
				(struct diff_p_value){f->self.p, &f->self.p_corrected};
		if (f->total.p >= 0 && !function_is_leaf(f))
			values[out->n_tests++] =
				(struct diff_p_value){f->total.p, &f->total.p_corrected};
	}
	diff_correct_p_values(values, out->n_tests);
	for (size_t i = 0; i < out->n; i++) {
		struct diff_function *f = &out->v[i];

		measure_conclude(&f->self);
		measure_conclude(&f->total);
		if (function_is_leaf(f))
			f->total = f->self;
	}
	return 0;
}

static bool function_is_sure(const struct diff_function *f)
{
	return f->self.verdict == DIFF_SURE || f->total.verdict == DIFF_SURE;
}

static bool function_is_same(const struct diff_function *f)
{
	return f->self.a == f->self.b && f->total.a == f->total.b;
}

/* Returns the difference of the shares. */
static double measure_get_growth(const struct diff_measure *m)
{
	return fabs(m->b - m->a);
}

static int compare_functions(const void *left, const void *right)
{
	const struct diff_function *a = left;
	const struct diff_function *b = right;
	double self = measure_get_growth(&a->self) - measure_get_growth(&b->self);
	double total = measure_get_growth(&a->total) - measure_get_growth(&b->total);

	if (function_is_same(a) != function_is_same(b))
		return function_is_same(a) - function_is_same(b);
	if (function_is_sure(a) != function_is_sure(b))
		return function_is_sure(b) - function_is_sure(a);
	if (self != 0 || total != 0)
		return (self != 0 ? self : total) > 0 ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* --- the comparison ------------------------------------------------------------------------ */

static int compare_sides(struct diff_functions *out, const struct functions_side sides[2])
{
	const struct functions_side *a = &sides[0];
	const struct functions_side *b = &sides[1];
	const struct names *in_a = &a->view->stacks.texts;
	const struct names *in_b = &b->view->stacks.texts;

	out->v = calloc(a->n + b->n + 1, sizeof *out->v);
	if (!out->v)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		const char *name = names_get(in_a, a->v[i].function);
		uint32_t text = names_find(in_b, name);
		uint32_t place = text == NAMES_NONE ? 0 : b->places[text];

		add_function(out, sides, name, &a->v[i], place ? &b->v[place - 1] : NULL);
	}
	for (size_t i = 0; i < b->n; i++) {
		const char *name = names_get(in_b, b->v[i].function);
		uint32_t text = names_find(in_a, name);

		if (text == NAMES_NONE || !a->places[text])
			add_function(out, sides, name, NULL, &b->v[i]);
	}
	return conclude(out);
}

int diff_functions_make(const struct pace *pace, struct diff_functions *out, struct diag *d)
{
	struct functions_side sides[2] = {{.n = 0}, {.n = 0}};
	int r = 0;

	*out = (struct diff_functions){.v = NULL};
	for (int i = 0; i < 2 && !r; i++) {
		r = side_read(&sides[i], &pace->sides[i], d);
		out->n_samples[i] = side_count_samples(&sides[i]);
	}
	if (!r && out->n_samples[0] && out->n_samples[1])
		r = compare_sides(out, sides);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, compare_functions);
	for (; out->n && function_is_same(&out->v[out->n - 1]); out->n--)
		out->n_same++;
	for (int i = 0; i < 2; i++)
		side_deinit(&sides[i]);
	return r;
}

void diff_functions_deinit(struct diff_functions *f)
{
	free(f->v);
	*f = (struct diff_functions){.v = NULL};
}
