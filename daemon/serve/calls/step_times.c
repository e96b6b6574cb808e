/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a recording; see step_times.h. */
#include "daemon/serve/calls/step_times.h"

#include <string.h>

#include "base/cleanup.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "trace/model/space.h"
#include "trace/xspace/summary_keys.h"

static void count_step(struct step_times *t, int64_t duration_ns)
{
	if (t->n_ended == 0 || duration_ns < t->min_ns)
		t->min_ns = duration_ns;
	if (duration_ns > t->max_ns)
		t->max_ns = duration_ns;
	t->total_ns += duration_ns;
	t->n_ended++;
}

static void count_plane(struct step_times *t, const struct plane *plane)
{
	struct summary_keys keys;

	summary_keys_init(&keys, plane);
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		t->n_events += line->n_events;
		if (line_is_counters(line) || !line->n_events)
			continue;
		t->n_threads++;
		for (size_t k = 0; k < line->n_events; k++) {
			const struct trace_event *e = &line->events[k];

			if (!event_is_step(plane, &keys, e))
				continue;
			t->n_steps++;
			if (!event_is_unfinished(plane, &keys, e))
				count_step(t, e->duration_ns);
		}
	}
}

int step_times_read(struct delivery *d, struct step_times *out)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = delivery_decode(d, &space);

	memset(out, 0, sizeof *out);
	for (size_t i = 0; !r && i < space->n_planes; i++)
		count_plane(out, space->planes[i]);
	return r;
}
