/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the flight recorder's triggers; see trigger.h. */
#include "base/trigger.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define SEPARATOR ';'
/* The longest limit of a span: one day. No span that is worth a trigger takes longer. */
#define MAX_SPAN_NS (INT64_C(86400) * 1000000000)
#define MAX_FACTOR 1e6

void trigger_list_deinit(struct trigger_list *list)
{
	free(list->v);
	memset(list, 0, sizeof *list);
}

/* Adds |t|. Does nothing if |list| is NULL. */
static int trigger_list_add(struct trigger_list *list, const struct trigger *t)
{
	if (!list)
		return 0;
	if (list->n == TRIGGERS_MAX)
		return -EINVAL;
	if (grow(&list->v, &list->n_allocated, list->n + 1))
		return -ENOMEM;
	list->v[list->n++] = *t;
	return 0;
}

/*
 * Parses a finite decimal number whose characters are all in |letters|: digits, a decimal point,
 * and for some callers signs and an exponent. So it refuses the other forms that strtod() accepts.
 */
static int parse_decimal(const char *text, size_t n, const char *letters, double *out)
{
	char copy[64];
	char *end;

	if (!n || n >= sizeof copy || strspn(text, letters) < n)
		return -EINVAL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	*out = strtod(copy, &end);
	return *end || end == copy || !isfinite(*out) ? -EINVAL : 0;
}

static int parse_time(const char *text, size_t n, int64_t *out_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	size_t n_digits = strspn(text, "0123456789.");
	double number;

	if (n_digits > n || parse_decimal(text, n_digits, "0123456789.", &number))
		return -EINVAL;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strlen(units[i].unit) != n - n_digits ||
			memcmp(text + n_digits, units[i].unit, n - n_digits) != 0)
			continue;
		number *= units[i].ns;
		if (number < 1e3 || number > (double)MAX_SPAN_NS)
			return -EINVAL;
		*out_ns = (int64_t)(number + 0.5);
		return 0;
	}
	return -EINVAL;
}

/*
 * Finds the last character of |text| that is one of |signs|; earlier ones may belong to the name.
 * NULL: none.
 */
static const char *find_sign(const char *text, size_t n, const char *signs)
{
	for (size_t i = n; i-- > 0;)
		if (strchr(signs, text[i]))
			return text + i;
	return NULL;
}

static int trigger_set_name(struct trigger *t, const char *text, size_t n)
{
	if (!n || n >= sizeof t->name)
		return -EINVAL;
	memcpy(t->name, text, n);
	t->name[n] = '\0';
	t->n_name = n;
	return 0;
}

static int trigger_parse_span(const char *text, size_t n, struct trigger *t)
{
	const char *sign = find_sign(text, n, ":");

	if (!sign || trigger_set_name(t, text, (size_t)(sign - text)))
		return -EINVAL;
	t->kind = TRIGGER_SPAN;
	return parse_time(sign + 1, n - (size_t)(sign + 1 - text), &t->bound_ns);
}

static int trigger_parse_counter(const char *text, size_t n, struct trigger *t)
{
	const char *sign = find_sign(text, n, "<>");

	if (!sign || trigger_set_name(t, text, (size_t)(sign - text)))
		return -EINVAL;
	t->kind = *sign == '>' ? TRIGGER_COUNTER_ABOVE : TRIGGER_COUNTER_BELOW;
	return parse_decimal(sign + 1, n - (size_t)(sign + 1 - text), "0123456789.+-eE", &t->bound);
}

static int trigger_parse_each(const char *text,
	int (*parse)(const char *, size_t, struct trigger *), struct trigger_list *list)
{
	size_t n = 0;

	for (const char *at = text;; at += n + 1) {
		struct trigger t = {.n_name = 0};
		int r;

		n = strcspn(at, (char[]){SEPARATOR, '\0'});
		r = parse(at, n, &t);
		if (!r)
			r = trigger_list_add(list, &t);
		if (r || !at[n])
			return r;
	}
}

int trigger_parse_spans(const char *text, struct trigger_list *list)
{
	return trigger_parse_each(text, trigger_parse_span, list);
}

int trigger_parse_counters(const char *text, struct trigger_list *list)
{
	return trigger_parse_each(text, trigger_parse_counter, list);
}

int trigger_parse_step(const char *text, struct trigger_list *list)
{
	double factor;

	if (parse_decimal(text, strlen(text), "0123456789.", &factor) || factor <= 1 ||
		factor > MAX_FACTOR)
		return -EINVAL;
	if (list)
		list->step_factor = factor;
	return 0;
}
