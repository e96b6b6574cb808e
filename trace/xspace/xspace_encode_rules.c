/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers of the format trip over, and what is written instead: the stat name `group_id`, and
 * the counter path of XProf, which prints names and numbers without escaping. (Invalid UTF-8 is put
 * right by each text, see xspace_put.h.)
 */
#include "trace/xspace/xspace_encoder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/model/space.h"
#include "trace/xspace/xspace_put.h"

/*
 * XProf draws the first number among the stats of a sample, and breaks on one that is not finite.
 */
bool encoder_is_drawable(const struct plane *plane, const struct trace_event *event)
{
	const struct trace_stat *stat = plane_get_stats(plane, event);
	bool has_number = false;

	for (; stat; stat = stat_next(stat)) {
		if (stat->type == STAT_DOUBLE && !isfinite(stat->value.f64))
			return false;
		has_number |= stat->type <= STAT_DOUBLE;
	}
	return has_number;
}

bool encoder_is_counter_line(const struct line *line)
{
	return strcmp(line->name, LINE_COUNTERS) == 0;
}

bool encoder_has_output(const struct plane_encoder *e, const struct line *line)
{
	if (line->n_stored || !encoder_is_counter_line(line))
		return line_count_events(line) > 0;
	for (size_t i = 0; i < line->n_events; i++) {
		if (encoder_is_drawable(e->plane, &line->events[i]))
			return true;
	}
	return false;
}

static void mark_sample(struct plane_encoder *e, const struct trace_event *event)
{
	const struct plane *plane = e->plane;
	const struct trace_stat *stat = plane_get_stats(plane, event);

	if (!encoder_is_drawable(plane, event)) {
		e->n_bad_samples++;
		return;
	}
	if (!is_safe_counter_name(names_get(&plane->event_names, event->name)))
		e->event_rules[event->name] = NAME_OF_COUNTER;
	for (; stat; stat = stat_next(stat)) {
		if (!is_safe_counter_name(names_get(&plane->stat_names, stat->name)))
			e->stat_rules[stat->name] = NAME_OF_COUNTER;
	}
}

int encoder_set_rules(struct plane_encoder *e)
{
	const struct plane *plane = e->plane;
	uint32_t reserved = names_find(&plane->stat_names, RESERVED_STAT);

	e->event_rules = calloc((size_t)plane->event_names.n_texts + 1, 1);
	e->stat_rules = calloc((size_t)plane->stat_names.n_texts + 1, 1);
	if (!e->event_rules || !e->stat_rules)
		return -ENOMEM;
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		for (size_t k = 0; encoder_is_counter_line(line) && k < line->n_events; k++)
			mark_sample(e, &line->events[k]);
	}
	if (reserved != NAMES_NONE)
		e->stat_rules[reserved] = NAME_RESERVED;
	return 0;
}
