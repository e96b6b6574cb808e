/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers; see triggers.h. */
#include "daemon/pipeline/drain/triggers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/printable.h"
#include "base/profile_options.h"
#include "base/utf8.h"
#include "daemon/target/entry.h"

/* The index of the first duration in |sorted| that is not less than |duration|. */
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

#define DEFAULT_INTERVAL_MS 60000
/* Room for a time with its unit. */
#define TIME_BYTES 40
#define NAME_BYTES 84
#define STEPS TRIGGERS_MAX /* the index at which triggers of steps are counted */

/* --- options ------------------------------------------------------------------------------ */

static int read_options(struct trigger_list *list, const struct profile_options *o)
{
	static const struct {
		const char *key;
		int (*parse)(const char *text, struct trigger_list *list);
	} keys[] = {
		{"ptap_trigger_span", trigger_parse_spans},
		{"ptap_trigger_counter", trigger_parse_counters},
		{"ptap_trigger_step", trigger_parse_step},
	};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const char *text = profile_options_get_text(o, keys[i].key);
		int r = text ? keys[i].parse(text, list) : 0;

		if (r)
			return r;
	}
	return 0;
}

int triggers_init(struct triggers *t, const struct profile_options *o, struct diag *d)
{
	int r;

	memset(t, 0, sizeof *t);
	t->interval_ns = NS_PER_MS * profile_options_get_number(
					     o, "ptap_trigger_interval_ms", DEFAULT_INTERVAL_MS);
	t->min_span_ticks = UINT64_MAX;
	r = read_options(&t->list, o);
	if (r)
		triggers_deinit(t);
	/* Each option was checked when it was set, so only the total number can be wrong. */
	if (r == -EINVAL)
		diag_set(d, r,
			"ptap_trigger_span, ptap_trigger_counter: more than %u triggers in all",
			TRIGGERS_MAX);
	return r;
}

void triggers_deinit(struct triggers *t)
{
	trigger_list_deinit(&t->list);
	free(t->slots);
	memset(t, 0, sizeof *t);
}

bool triggers_are_set(const struct triggers *t)
{
	return t->list.n || t->list.step_factor != 0;
}

/* --- bounds ------------------------------------------------------------------------------- */

void triggers_set_clock(struct triggers *t, int64_t now_ns, double ns_per_tick)
{
	t->now_ns = now_ns;
	t->ns_per_tick = ns_per_tick;
	t->min_span_ticks = UINT64_MAX;
	t->has_counters = false;
	for (size_t i = 0; i < t->list.n; i++) {
		const struct trigger *one = &t->list.v[i];

		if (one->kind != TRIGGER_SPAN) {
			t->has_counters = true;
			continue;
		}
		t->bound_ticks[i] = (uint64_t)((double)one->bound_ns / ns_per_tick);
		if (t->bound_ticks[i] < t->min_span_ticks)
			t->min_span_ticks = t->bound_ticks[i];
	}
	/*
	 * A record that has no room for its duration stores RECORD_DURATION_MASK instead, so the
	 * bound must be less than that.
	 */
	if (t->min_span_ticks != UINT64_MAX && t->min_span_ticks >= RECORD_DURATION_MASK)
		t->min_span_ticks = RECORD_DURATION_MASK - 1;
}

uint32_t triggers_find(const struct triggers *t, const char *name, size_t n)
{
	uint32_t found = 0;

	for (size_t i = 0; i < t->list.n; i++)
		if (t->list.v[i].n_name == n && memcmp(t->list.v[i].name, name, n) == 0)
			found |= UINT32_C(1) << i;
	return found;
}

/* --- reasons ------------------------------------------------------------------------------ */

/* A reason has room for the beginning of a name; the run's options have the whole name. */
static const char *fit_name(const struct trigger *one, char name[NAME_BYTES])
{
	return utf8_fit(name, NAME_BYTES, one->name);
}

static const char *describe_time(double ns, char text[TIME_BYTES])
{
	if (ns < 1e6)
		snprintf(text, TIME_BYTES, "%.4g us", ns / 1e3);
	else if (ns < 1e9)
		snprintf(text, TIME_BYTES, "%.4g ms", ns / 1e6);
	else
		snprintf(text, TIME_BYTES, "%.4g s", ns / 1e9);
	return text;
}

static bool is_quiet(const struct triggers *t)
{
	return t->reason[0] || t->now_ns < t->quiet_until_ns;
}

/*
 * Adds "; also 62 of counter queue" for the trigger |i| to the reason of another one, if there is
 * room.
 */
static void describe_other(struct triggers *t, size_t i, bool is_first)
{
	static const char *const kinds[] = {
		[TRIGGER_SPAN] = "span ",
		[TRIGGER_COUNTER_ABOVE] = "counter ",
		[TRIGGER_COUNTER_BELOW] = "counter ",
	};
	char text[NAME_BYTES + 64];
	char name[NAME_BYTES];
	size_t n = strlen(t->reason);

	snprintf(text, sizeof text, "%s %" PRIu64 " of %s%s", is_first ? "; also" : ",",
		t->n_suppressed[i], i == STEPS ? "steps" : kinds[t->list.v[i].kind],
		i == STEPS ? "" : fit_name(&t->list.v[i], name));
	if (n + strlen(text) < sizeof t->reason)
		memcpy(t->reason + n, text, strlen(text) + 1);
}

/*
 * Adds to the reason of the trigger |fired| how often each trigger was suppressed
 * since the last reason.
 */
static void describe_suppressed(struct triggers *t, size_t fired)
{
	size_t n = strlen(t->reason);
	bool is_first = true;

	if (t->n_suppressed[fired])
		snprintf(t->reason + n, sizeof t->reason - n,
			"; %" PRIu64 " more since the last run", t->n_suppressed[fired]);
	for (size_t i = 0; i <= STEPS; i++) {
		if (i == fired || !t->n_suppressed[i])
			continue;
		describe_other(t, i, is_first);
		is_first = false;
	}
	memset(t->n_suppressed, 0, sizeof t->n_suppressed);
}

/* Sets the reason, or counts trigger |i| as suppressed. STEPS stands for the trigger of steps. */
__attribute__((format(printf, 3, 4))) static void fire_trigger(
	struct triggers *t, size_t i, const char *format, ...)
{
	va_list words;

	if (is_quiet(t)) {
		t->n_suppressed[i]++;
		return;
	}
	va_start(words, format);
	vsnprintf(t->reason, sizeof t->reason, format, words);
	va_end(words);
	describe_suppressed(t, i);
	printable_clean(t->reason);
}

void triggers_describe_unwritten(const struct triggers *t, char *text, size_t n)
{
	uint64_t n_unwritten = t->reason[0] != '\0';

	for (size_t i = 0; i <= STEPS; i++)
		n_unwritten += t->n_suppressed[i];
	text[0] = '\0';
	if (n_unwritten)
		snprintf(text, n,
			"triggers that have no run of their own, since the last run: %" PRIu64,
			n_unwritten);
}

void triggers_take(struct triggers *t, char *reason, size_t n)
{
	snprintf(reason, n, "%s", t->reason);
	t->reason[0] = '\0';
	t->quiet_until_ns = t->now_ns + t->interval_ns;
}

/* --- entries ------------------------------------------------------------------------------ */

static void judge_span(struct triggers *t, size_t i, const struct entry *e)
{
	const struct trigger *one = &t->list.v[i];
	char name[NAME_BYTES];
	char took[TIME_BYTES];
	char bound[TIME_BYTES];

	if (e->duration > t->bound_ticks[i])
		fire_trigger(t, i, "span %s took %s, more than %s", fit_name(one, name),
			describe_time((double)e->duration * t->ns_per_tick, took),
			describe_time((double)one->bound_ns, bound));
}

static void judge_counter(struct triggers *t, size_t i, const struct entry *e)
{
	const struct trigger *one = &t->list.v[i];
	char name[NAME_BYTES];
	double value;

	if (!entry_read_number(e, &value))
		return;
	if (one->kind == TRIGGER_COUNTER_ABOVE && value > one->bound)
		fire_trigger(t, i, "counter %s was %.15g, more than %.15g", fit_name(one, name),
			value, one->bound);
	else if (one->kind == TRIGGER_COUNTER_BELOW && value < one->bound)
		fire_trigger(t, i, "counter %s was %.15g, less than %.15g", fit_name(one, name),
			value, one->bound);
}

static void judge_step(struct triggers *t, const struct entry *e)
{
	double took_ns = (double)e->duration * t->ns_per_tick;
	double usual_ns = (double)step_median_get(&t->steps);
	double number = 0;
	char took[TIME_BYTES];
	char usual[TIME_BYTES];

	entry_read_number(e, &number);
	if (t->steps.n >= TRIGGERS_MIN_STEPS && took_ns > t->list.step_factor * usual_ns)
		fire_trigger(t, STEPS, "step %.15g took %s, %.1f times the usual %s", number,
			describe_time(took_ns, took), took_ns / (usual_ns > 0 ? usual_ns : 1),
			describe_time(usual_ns, usual));
	step_median_add(&t->steps, (uint64_t)took_ns);
}

void triggers_judge(struct triggers *t, const struct entry *e, uint32_t named)
{
	bool is_counter = e->kind == RECORD_COUNTER;

	for (; named; named &= named - 1) {
		size_t i = (size_t)__builtin_ctz(named);

		if (is_counter && t->list.v[i].kind != TRIGGER_SPAN)
			judge_counter(t, i, e);
		else if (!is_counter && t->list.v[i].kind == TRIGGER_SPAN)
			judge_span(t, i, e);
	}
	if (e->kind == RECORD_STEP && t->list.step_factor != 0)
		judge_step(t, e);
}
