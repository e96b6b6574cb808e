/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a plane: gathered, sorted by name and duration, summed by name; see summary.h. */
#include "trace/summary.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/percentile.h"
#include "trace/saturate.h"
#include "trace/space.h"

struct step {
	uint32_t name;
	bool is_unfinished;
	int64_t duration_ns;
};

struct step_list {
	struct step *steps;
	size_t n_steps;
	size_t n_allocated;
};

static int add_step(struct step_list *list, struct step step)
{
	if (grow(&list->steps, &list->n_allocated, list->n_steps + 1))
		return -ENOMEM;
	list->steps[list->n_steps++] = step;
	return 0;
}

static int gather_steps(const struct plane *plane, struct step_list *list)
{
	struct summary_keys keys;

	summary_keys_init(&keys, plane);
	if (keys.root == NAMES_NONE || keys.step_num == NAMES_NONE)
		return 0;
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		for (size_t k = 0; k < line->n_events; k++) {
			const struct trace_event *event = &line->events[k];
			struct step step = {event->name, event_is_unfinished(plane, &keys, event),
				event->duration_ns};

			if (event_is_step(plane, &keys, event) && add_step(list, step))
				return -ENOMEM;
		}
	}
	return 0;
}

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left;
	const struct step *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->duration_ns < b->duration_ns ? -1 : a->duration_ns > b->duration_ns;
}

/* |steps|: |n| of one name, by duration. */
static struct summary_step sum_steps_of_name(const struct step *steps, size_t n)
{
	struct summary_step sum = {.name = steps[0].name, .n = n};
	int64_t total_ns = 0;

	for (size_t i = 0; i < n; i++) {
		total_ns = add_saturated(total_ns, steps[i].duration_ns);
		sum.n_unfinished += steps[i].is_unfinished;
	}
	sum.mean_ns = total_ns / (int64_t)n;
	sum.p50_ns = steps[percentile_rank(n, 50)].duration_ns;
	sum.p99_ns = steps[percentile_rank(n, 99)].duration_ns;
	sum.min_ns = steps[0].duration_ns;
	sum.max_ns = steps[n - 1].duration_ns;
	return sum;
}

static int sum_step_list(struct summary *summary, struct step_list *list)
{
	size_t first = 0;

	summary->steps = calloc(list->n_steps + 1, sizeof *summary->steps);
	if (!summary->steps)
		return -ENOMEM;
	if (list->n_steps)
		qsort(list->steps, list->n_steps, sizeof *list->steps, compare_steps);
	for (size_t i = 0; i < list->n_steps; i++) {
		if (i + 1 < list->n_steps && list->steps[i + 1].name == list->steps[i].name)
			continue;
		summary->steps[summary->n_steps++] =
			sum_steps_of_name(list->steps + first, i + 1 - first);
		first = i + 1;
	}
	return 0;
}

int summary_add_steps(struct summary *summary)
{
	struct step_list list = {NULL, 0, 0};
	int rc = gather_steps(summary->plane, &list);

	if (rc == 0)
		rc = sum_step_list(summary, &list);
	free(list.steps);
	return rc;
}
