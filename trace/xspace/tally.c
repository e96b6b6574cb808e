/* SPDX-License-Identifier: Apache-2.0 */
/* Totals; see tally.h. */
#include "trace/xspace/tally.h"

#include <stdlib.h>
#include <string.h>

#include "trace/model/device_name.h"
#include "trace/model/space.h"

void tally_begin_plane(struct tally *t, const struct plane *plane)
{
	free(t->seen);
	t->seen = NULL;
	t->n_seen = 0;
	t->plane = plane;
	t->n_events = 0;
	memset(t->n_of_kind, 0, sizeof t->n_of_kind);
	summary_keys_init(&t->keys, plane);
}

/* Names may be added while the plane is read. False: memory ran out. */
static bool make_room(struct tally *t)
{
	size_t n = t->plane->event_names.n_texts;
	uint8_t *seen;

	if (n <= t->n_seen)
		return true;
	seen = realloc(t->seen, n);
	if (!seen)
		return false;
	memset(seen + t->n_seen, 0, n - t->n_seen);
	t->seen = seen;
	t->n_seen = n;
	return true;
}

/* Without memory a line counts as one series. */
static void add_samples(struct tally *t, const struct line *line)
{
	bool has_room = make_room(t);

	t->totals.n_counter_samples += line->n_events;
	t->totals.n_counters += !has_room && t->n_events == 0;
	for (size_t i = 0; has_room && i < line->n_events; i++) {
		uint8_t *mark = &t->seen[line->events[i].name];

		t->totals.n_counters += !*mark;
		*mark = 1;
	}
}

static void add_event(struct tally *t, const struct trace_event *event)
{
	const struct plane *plane = t->plane;
	const struct summary_keys *keys = &t->keys;

	t->n_of_kind[event_get_kind(plane, keys, event)]++;
	t->is_async = t->is_async && event_is_async(plane, keys, event);
	t->totals.n_steps += event_is_step(plane, keys, event);
	t->totals.n_unfinished += event_is_unfinished(plane, keys, event);
	t->totals.n_flow_marks +=
		event_is_flow_out(plane, keys, event) || event_is_flow_in(plane, keys, event);
}

void tally_add_events(struct tally *t, const struct line *line)
{
	if (t->n_events == 0)
		t->is_async = true;
	if (line_is_counters(line)) {
		if (line->n_events)
			add_samples(t, line);
	} else {
		for (size_t i = 0; i < line->n_events; i++)
			add_event(t, &line->events[i]);
	}
	t->n_events += line->n_events;
}

void tally_end_line(struct tally *t, const struct line *line)
{
	if (t->n_events && !line_is_counters(line)) {
		if (t->is_async) {
			t->totals.n_asyncs += t->n_events;
		} else {
			t->totals.n_threads++;
			t->totals.n_spans += t->n_of_kind[EVENT_SPAN];
			t->totals.n_device_spans +=
				plane_name_is_device(t->plane->name) ? t->n_of_kind[EVENT_SPAN] : 0;
			t->totals.n_instants += t->n_of_kind[EVENT_INSTANT];
		}
	}
	t->n_events = 0;
	memset(t->n_of_kind, 0, sizeof t->n_of_kind);
}

void tally_add_facts(struct tally *t, const struct plane *plane)
{
	const struct trace_stat *dropped = plane_find_own_stat(plane, "dropped_traces");
	uint64_t n_dropped;

	if (dropped && stat_get_count(dropped, &n_dropped))
		t->totals.n_dropped += n_dropped;
}

void tally_deinit(struct tally *t)
{
	free(t->seen);
	t->seen = NULL;
	t->n_seen = 0;
}
