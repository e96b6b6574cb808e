/* SPDX-License-Identifier: Apache-2.0 */
/* Spans, in one pass over each line with the stack of open ones; see summary.h. */
#include "trace/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/percentile.h"
#include "trace/saturate.h"
#include "trace/space.h"

/* An event that the current one may lie in. */
struct open_event {
	int64_t end_ns;
	size_t row;
};

struct line_summer {
	struct summary *summary;
	struct summary_keys keys;
	uint32_t *row_of_name; /* index + 1 into the current line's rows; 0: none yet */
	size_t *next; /* as many */
	size_t n_rows_allocated;
	struct open_event *stack;
	size_t n_stack;
	size_t n_stack_allocated;
};

static int push(struct line_summer *s, struct open_event event)
{
	if (grow(&s->stack, &s->n_stack_allocated, s->n_stack + 1))
		return -ENOMEM;
	s->stack[s->n_stack++] = event;
	return 0;
}

static int add_row(struct line_summer *s, struct summary_line *line, uint32_t name)
{
	if (grow(&line->rows, &s->n_rows_allocated, line->n_rows + 1))
		return -ENOMEM;
	line->rows[line->n_rows++] = (struct summary_row){.name = name, .min_ns = INT64_MAX};
	s->row_of_name[name] = (uint32_t)line->n_rows;
	return 0;
}

/* Takes the part of [start, end) that lies in the innermost open event off that one's self time. */
static void charge_parent(
	struct line_summer *s, struct summary_line *line, int64_t start_ns, int64_t end_ns)
{
	const struct open_event *parent;

	while (s->n_stack && s->stack[s->n_stack - 1].end_ns <= start_ns)
		s->n_stack--;
	if (!s->n_stack)
		return;
	parent = &s->stack[s->n_stack - 1];
	line->rows[parent->row].self_ns -=
		(end_ns < parent->end_ns ? end_ns : parent->end_ns) - start_ns;
}

void summary_row_count(struct summary_row *row, int64_t duration_ns, bool is_unfinished)
{
	row->count++;
	row->n_unfinished += is_unfinished;
	row->total_ns = add_saturated(row->total_ns, duration_ns);
	row->self_ns = add_saturated(row->self_ns, duration_ns);
	row->min_ns = duration_ns < row->min_ns ? duration_ns : row->min_ns;
	row->max_ns = duration_ns > row->max_ns ? duration_ns : row->max_ns;
}

static int sum_event(
	struct line_summer *s, struct summary_line *line, const struct trace_event *event)
{
	int64_t end_ns = add_saturated(event->start_ns, event->duration_ns);
	size_t row;

	if (!s->row_of_name[event->name] && add_row(s, line, event->name))
		return -ENOMEM;
	row = s->row_of_name[event->name] - 1;
	charge_parent(s, line, event->start_ns, end_ns);
	summary_row_count(&line->rows[row], end_ns - event->start_ns,
		event_is_unfinished(s->summary->plane, &s->keys, event));
	return push(s, (struct open_event){end_ns, row});
}

/* Puts the durations of each row's events together in |durations|, row after row. */
static void gather_durations(
	const struct line_summer *s, const struct summary_line *sum, int64_t *durations)
{
	size_t n = 0;

	/* Where the row's next one goes; afterwards the row's end. */
	for (size_t i = 0; i < sum->n_rows; i++) {
		s->next[i] = n;
		n += sum->rows[i].count;
	}
	for (size_t i = 0; i < sum->line->n_events; i++) {
		const struct trace_event *e = &sum->line->events[i];

		durations[s->next[s->row_of_name[e->name] - 1]++] =
			add_saturated(e->start_ns, e->duration_ns) - e->start_ns;
	}
}

static int sum_percentiles(const struct line_summer *s, struct summary_line *sum)
{
	_cleanup_free_ int64_t *durations = calloc(sum->line->n_events, sizeof *durations);
	int64_t *row_durations = durations;

	if (!durations)
		return -ENOMEM;
	gather_durations(s, sum, durations);
	for (size_t i = 0; i < sum->n_rows; i++) {
		struct summary_row *row = &sum->rows[i];

		row->p50_ns = percentile_select(row_durations, row->count, 50);
		row->p99_ns = percentile_select(row_durations, row->count, 99);
		row_durations += row->count;
	}
	return 0;
}

static int sum_line(struct line_summer *s, const struct line *line)
{
	struct summary_line *sum = &s->summary->lines[s->summary->n_lines++];
	int rc = 0;

	*sum = (struct summary_line){.line = line};
	s->n_rows_allocated = 0;
	s->n_stack = 0;
	for (size_t i = 0; i < line->n_events && rc == 0; i++)
		rc = sum_event(s, sum, &line->events[i]);
	if (rc == 0)
		rc = sum_percentiles(s, sum);
	for (size_t i = 0; i < sum->n_rows; i++)
		s->row_of_name[sum->rows[i].name] = 0;
	return rc;
}

static int sum_lines(struct summary *summary)
{
	const struct plane *plane = summary->plane;
	_cleanup_free_ uint32_t *row_of_name =
		calloc((size_t)plane->event_names.n_texts + 1, sizeof *row_of_name);
	_cleanup_free_ size_t *next = calloc((size_t)plane->event_names.n_texts + 1, sizeof *next);
	struct line_summer s = {.summary = summary, .row_of_name = row_of_name, .next = next};
	int rc = 0;

	summary->lines = calloc(plane->n_lines + 1, sizeof *summary->lines);
	if (!summary->lines || !row_of_name || !next)
		return -ENOMEM;
	summary_keys_init(&s.keys, plane);
	for (size_t i = 0; i < plane->n_lines && rc == 0; i++) {
		const struct line *line = &plane->lines[i];

		if (line->n_events && !line_is_counters(line) &&
			!line_is_async(plane, &s.keys, line))
			rc = sum_line(&s, line);
	}
	free(s.stack);
	return rc;
}

/* The whole. */

int summary_init(struct summary *summary, const struct plane *plane)
{
	int rc;

	*summary = (struct summary){.plane = plane};
	rc = sum_lines(summary);
	if (rc == 0)
		rc = summary_add_counters(summary);
	if (rc == 0)
		rc = summary_add_steps(summary);
	if (rc == 0)
		rc = summary_add_asyncs(summary);
	if (rc == 0)
		rc = summary_add_flows(summary);
	if (rc)
		summary_deinit(summary);
	else
		summary_sort(summary, SUMMARY_SELF);
	return rc;
}

void summary_deinit(struct summary *summary)
{
	for (size_t i = 0; i < summary->n_lines; i++)
		free(summary->lines[i].rows);
	free(summary->lines);
	free(summary->counters);
	free(summary->steps);
	free(summary->asyncs);
	free(summary->flows);
	*summary = (struct summary){0};
}
