/* SPDX-License-Identifier: Apache-2.0 */
/* Reads outlines: counts the events while an archive is indexed. */
#include "trace/read/outline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/model/space.h"
#include "trace/read/event.h"

/*
 * The kind of an event on a thread's line. In foreign traces a span may also be the end of a flow.
 */
enum outline_kind {
	OUTLINE_SPAN,
	OUTLINE_INSTANT,
	OUTLINE_FLOW_MARK,
	OUTLINE_KINDS
};

struct outline_reading {
	struct outline *outline;
	int (*pass)(const uint8_t *p, void *context);
	void *context;
	uint8_t *seen; /* by an event's name: 1 if the plane's counter of that name was counted */
	size_t n_seen;
	size_t n_seen_allocated;
	bool has_seen_unknown; /* the same for all names that are not in the file */
	uint64_t n_of_kind[OUTLINE_KINDS]; /* events of the line that is being read */
};

/* --- events -------------------------------------------------------------------------------- */

static enum outline_kind find_kind(const struct archive_event *event, const struct event_marks *m)
{
	if (event->has_duration || m->is_step || m->is_unfinished)
		return OUTLINE_SPAN;
	return m->has_flow ? OUTLINE_FLOW_MARK : OUTLINE_INSTANT;
}

static void count_event(struct outline_reading *reading, const struct archive_event *event,
	const struct event_marks *m)
{
	struct report_totals *totals = &reading->outline->totals;

	reading->n_of_kind[find_kind(event, m)]++;
	totals->n_steps += m->is_step;
	totals->n_unfinished += m->is_unfinished;
	totals->n_flow_marks += m->has_flow;
}

/*
 * Returns true if the plane has had no sample of that counter yet. If memory runs out, the counter
 * is left out.
 */
static bool note_counter(struct outline_reading *reading, uint32_t name)
{
	bool is_new;

	if (name >= reading->n_seen) {
		if (grow(&reading->seen, &reading->n_seen_allocated, (size_t)name + 1))
			return false;
		memset(reading->seen + reading->n_seen, 0, name + 1 - reading->n_seen);
		reading->n_seen = (size_t)name + 1;
	}
	is_new = !reading->seen[name];
	reading->seen[name] = 1;
	return is_new;
}

static void count_sample(struct outline_reading *reading, const struct archive_plane *plane,
	const struct archive_event *event)
{
	struct report_totals *totals = &reading->outline->totals;

	totals->n_counter_samples++;
	if (event->name != ARCHIVE_NO_NAME) {
		totals->n_counters += note_counter(reading, plane->event_names[event->name].name);
		return;
	}
	totals->n_counters += !reading->has_seen_unknown;
	reading->has_seen_unknown = true;
}

/* --- the survey ---------------------------------------------------------------------------- */

static void outline_begin_plane(const struct archive_plane *plane, void *context)
{
	struct outline_reading *reading = context;

	(void)plane;
	reading->n_seen = 0;
	reading->has_seen_unknown = false;
}

static void outline_take_event(const struct archive_plane *plane, const struct archive_line *line,
	const struct archive_event *event, const struct event_marks *marks, void *context)
{
	struct outline_reading *reading = context;

	if (line->is_counters)
		count_sample(reading, plane, event);
	else if (plane->kind == PLANE_OF_SAMPLES)
		reading->outline->totals.n_cpu_samples += !event->duration_ns;
	else if (plane->kind != PLANE_OF_STATES)
		count_event(reading, event, marks);
}

static void outline_end_line(
	const struct archive_plane *plane, const struct archive_line *line, void *context)
{
	struct outline_reading *reading = context;
	struct outline *o = reading->outline;
	uint64_t n_spans = reading->n_of_kind[OUTLINE_SPAN];

	o->n_events += line->n_events;
	if (line->end_ns > o->length.last_ns)
		o->length.last_ns = line->end_ns;
	if (plane->kind == PLANE_OF_STATES) {
		return;
	} else if (line->is_async) {
		o->totals.n_asyncs += line->n_events;
	} else if (!line->is_counters && plane->kind != PLANE_OF_SAMPLES) {
		o->totals.n_threads++;
		o->totals.n_spans += n_spans;
		o->totals.n_device_spans += plane_name_is_device(plane->name) ? n_spans : 0;
		o->totals.n_instants += reading->n_of_kind[OUTLINE_INSTANT];
	}
	memset(reading->n_of_kind, 0, sizeof reading->n_of_kind);
}

static int outline_pass(const uint8_t *p, void *context)
{
	const struct outline_reading *reading = context;

	return reading->pass(p, reading->context);
}

/* --- facts --------------------------------------------------------------------------------- */

static void outline_read_facts(struct outline *o)
{
	const struct archive_plane *host = archive_find_plane(o->archive, PLANE_HOST);

	o->process = archive_plane_copy_text(host, "ptap_process_name");
	o->pid = archive_plane_find_int(host, "process_id");
	o->totals.n_dropped = archive_count_dropped(o->archive);
	archive_read_length(o->archive, &o->length);
}

static int warn_of_aggregated(struct archive *a, struct diag *d)
{
	char text[80];

	if (!a->n_aggregated)
		return 0;
	snprintf(text, sizeof text, "%" PRIu64 " aggregated events have no time and are left out",
		a->n_aggregated);
	if (names_intern(&a->warnings, text, strlen(text)) != NAMES_NONE)
		return 0;
	return diag_set(d, -ENOMEM, "trace: out of memory while reading it");
}

/* --- outlines ------------------------------------------------------------------------------ */

int outline_read(struct outline *o, const uint8_t *data, size_t n_bytes,
	int (*pass)(const uint8_t *p, void *context), void *context, struct diag *d)
{
	struct outline_reading reading = {.outline = o, .pass = pass, .context = context};
	const struct archive_survey survey = {
		.begin_plane = outline_begin_plane,
		.take_event = outline_take_event,
		.end_line = outline_end_line,
		.pass = pass ? outline_pass : NULL,
		.context = &reading,
	};
	int r;

	*o = (struct outline){.archive = NULL};
	r = archive_survey(data, n_bytes, &survey, &o->archive, d);
	free(reading.seen);
	if (o->archive)
		outline_read_facts(o);
	return r ? r : warn_of_aggregated(o->archive, d);
}

void outline_deinit(struct outline *o)
{
	archive_free(o->archive);
	free(o->process);
	o->archive = NULL;
	o->process = NULL;
}
