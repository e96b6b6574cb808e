/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the events of a trace by kind, and finds out how long its recording was. */
#include "trace/xspace/totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "trace/json.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"

#define OPTIONS_DURATION_MS 9 /* ProfileOptions.duration_ms */

/* --- the length of a recording ------------------------------------------------------------- */

/* Finds the requested length in ns; -1 if the options do not contain one. */
static int64_t find_requested_length(const struct report_length *l)
{
	struct pb_reader reader = pb_reader(l->options, l->options ? l->n_options : 0);
	struct pb_field field;
	int64_t asked_ns = l->asked_ns ? l->asked_ns : -1;

	while (!l->asked_ns && pb_next(&reader, &field) > 0)
		if (field.tag == PB_TAG(OPTIONS_DURATION_MS, PB_VARINT))
			asked_ns = field.value < INT64_MAX / NS_PER_MS
					   ? (int64_t)field.value * NS_PER_MS
					   : INT64_MAX;
	return asked_ns;
}

int64_t report_find_length(const struct report_length *l)
{
	int64_t longest_ns = l->stop_unix_ns - l->start_unix_ns;
	int64_t asked_ns = find_requested_length(l);
	int64_t last_ns = l->last_ns;

	if (l->start_unix_ns <= 0 || l->stop_unix_ns < l->start_unix_ns)
		return -1;
	if (l->is_ours)
		return longest_ns;
	if (asked_ns <= longest_ns && asked_ns > last_ns)
		last_ns = asked_ns;
	return last_ns > 0 && last_ns < longest_ns ? last_ns : longest_ns;
}

/* --- the tally ----------------------------------------------------------------------------- */

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

/* Makes room for names that were added since the last call. False: memory ran out. */
static bool tally_reserve_seen(struct tally *t)
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

/* If memory runs out, the line counts as one series. */
static void tally_add_samples(struct tally *t, const struct line *line)
{
	bool has_room = tally_reserve_seen(t);

	t->totals.n_counter_samples += line->n_events;
	t->totals.n_counters += !has_room && t->n_events == 0;
	for (size_t i = 0; has_room && i < line->n_events; i++) {
		uint8_t *mark = &t->seen[line->events[i].name];

		t->totals.n_counters += !*mark;
		*mark = 1;
	}
}

static void tally_add_event(struct tally *t, const struct trace_event *event)
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
			tally_add_samples(t, line);
	} else {
		for (size_t i = 0; i < line->n_events; i++)
			tally_add_event(t, &line->events[i]);
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

/* --- totals -------------------------------------------------------------------------------- */

void report_count(const struct space *space, struct report_totals *totals)
{
	struct tally t = {.plane = NULL};

	for (size_t i = 0; i < space->n_planes; i++) {
		const struct plane *plane = space->planes[i];

		tally_begin_plane(&t, plane);
		tally_add_facts(&t, plane);
		for (size_t j = 0; j < plane->n_lines; j++) {
			tally_add_events(&t, &plane->lines[j]);
			tally_end_line(&t, &plane->lines[j]);
		}
	}
	tally_deinit(&t);
	*totals = t.totals;
}

void report_write_json_totals(struct json *j, const struct report_totals *t)
{
	json_uint(j, "spans", t->n_spans);
	json_uint(j, "device_spans", t->n_device_spans);
	json_uint(j, "threads", t->n_threads);
	json_uint(j, "async_spans", t->n_asyncs);
	json_uint(j, "instants", t->n_instants);
	json_uint(j, "flow_marks", t->n_flow_marks);
	json_uint(j, "counters", t->n_counters);
	json_uint(j, "counter_samples", t->n_counter_samples);
	json_uint(j, "steps", t->n_steps);
	json_uint(j, "dropped", t->n_dropped);
	json_uint(j, "unfinished", t->n_unfinished);
}
