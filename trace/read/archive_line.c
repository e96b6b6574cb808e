/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of an archive: each event is looked at once, for its order, its times, and that it can be read; see archive.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/archive_index.h"
#include "trace/read/event.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"

#define MAX_UNKNOWN \
	1000 /* names made of ids; what is beyond is one name, so that memory does not grow with events */
#define UNKNOWN "?"

struct survey {
	struct archive_line line;
	struct pb_field name;
	struct pb_field display_name;
	int64_t last_start_ns;
	int64_t last_duration_ns;
	bool has_sync;
	struct archive_stats stats; /* of one event */
};

/* The header: what is around the events, and may stand behind them. */

static void read_header_field(struct survey *s, const struct pb_field *f)
{
	if (f->tag == PB_TAG(1, PB_VARINT))
		s->line.id = (int64_t)f->value;
	else if (f->tag == PB_TAG(2, PB_LEN))
		s->name = *f;
	else if (f->tag == PB_TAG(3, PB_VARINT))
		s->line.base_ns = (int64_t)f->value;
	else if (f->tag == PB_TAG(11, PB_LEN))
		s->display_name = *f;
}

static int read_header(struct indexing *x, struct survey *s, const struct pb_field *field)
{
	struct pb_reader r = pb_enter(field);
	const uint8_t *passed = NULL;
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		read_header_field(s, &f);
		archive_pass(x->archive, &passed, r.p);
	}
	if (rc < 0)
		return indexing_fail(x, &r, "a line");
	s->line.data = field->data;
	s->line.n_bytes = field->n_bytes;
	return 0;
}

/* Names that the file does not tell. */

static int add_unknown(struct indexing *x, struct archive_plane *plane, int64_t id)
{
	uint32_t n_before = plane->unknown.n_texts;
	char text[32];
	uint32_t i;

	if (n_before >= MAX_UNKNOWN)
		return 0;
	snprintf(text, sizeof text, UNKNOWN "%lld", (long long)id);
	i = names_intern(&plane->unknown, text, strlen(text));
	if (i < n_before)
		return 0;
	if (i == NAMES_NONE ||
		grow(&plane->unknown_ids, &plane->n_unknown_allocated, (size_t)i + 1))
		return indexing_fail_memory(x);
	plane->unknown_ids[i] = id;
	return 0;
}

static int name_unknown(struct indexing *x, struct archive_plane *plane, uint32_t i)
{
	struct archive_event_name name = {.first_stat = plane->name_stats.n};
	const char *text = plane->unknown.texts[i];

	name.name = names_intern(&x->archive->names, text, strlen(text));
	if (name.name == NAMES_NONE ||
		grow(&plane->event_names, &plane->n_event_names_allocated,
			plane->n_event_names + 1) ||
		idmap_add(&plane->events, plane->unknown_ids[i], (uint32_t)plane->n_event_names))
		return indexing_fail_memory(x);
	plane->event_names[plane->n_event_names++] = name;
	return 0;
}

int archive_name_unknown(struct indexing *x, struct archive_plane *plane)
{
	int rc = 0;

	for (uint32_t i = 0; i < plane->unknown.n_texts && rc == 0; i++)
		rc = name_unknown(x, plane, i);
	if (plane->unknown.n_texts)
		idmap_sort(&plane->events);
	return rc;
}

/* The events. */

static bool is_marked_async(const struct archive_plane *plane, const struct archive_stats *stats)
{
	for (size_t i = 0; i < stats->n; i++)
		if (plane->roles[stats->v[i].key] == ROLE_ASYNC)
			return stats->v[i].value.u64 != 0;
	return false;
}

static void count_event(struct survey *s, const struct archive_event *e, uint32_t series)
{
	struct archive_line *line = &s->line;
	int64_t end_ns = add_saturated(e->start_ns, e->duration_ns);

	if (line->n_events == 0) {
		line->series = series;
		line->first_ns = e->start_ns;
		line->last_ns = e->start_ns;
		line->end_ns = end_ns;
		line->is_ordered = true;
	} else if (e->start_ns < s->last_start_ns ||
		   (e->start_ns == s->last_start_ns && e->duration_ns > s->last_duration_ns)) {
		line->is_ordered = false;
	}
	if (e->start_ns < line->first_ns)
		line->first_ns = e->start_ns;
	if (e->start_ns > line->last_ns)
		line->last_ns = e->start_ns;
	if (end_ns > line->end_ns)
		line->end_ns = end_ns;
	s->last_start_ns = e->start_ns;
	s->last_duration_ns = e->duration_ns;
	line->n_events++;
}

static int survey_event(struct indexing *x, struct archive_plane *plane, struct survey *s,
	const struct pb_field *field)
{
	struct archive_event e;
	struct pb_reader bad;
	int rc;

	s->stats.n = 0;
	rc = event_read(plane, s->line.base_ns, field, &e, &s->stats, &bad);
	if (rc)
		return rc == -EBADMSG ? indexing_fail(x, &bad, "an event")
				      : indexing_fail_memory(x);
	if (e.is_aggregated) {
		x->archive->n_aggregated++;
		return 0;
	}
	s->has_sync = s->has_sync || !is_marked_async(plane, &s->stats);
	count_event(s, &e,
		e.name == ARCHIVE_NO_NAME ? ARCHIVE_NO_NAME : plane->event_names[e.name].name);
	return e.name == ARCHIVE_NO_NAME ? add_unknown(x, plane, e.id) : 0;
}

static int survey_events(struct indexing *x, struct archive_plane *plane, struct survey *s,
	const struct pb_field *field)
{
	struct pb_reader r = pb_enter(field);
	const uint8_t *passed = NULL;
	struct pb_field f;
	int rc = 0;

	while (rc == 0 && pb_next(&r, &f) > 0) {
		if (f.tag == PB_TAG(4, PB_LEN))
			rc = survey_event(x, plane, s, &f);
		archive_pass(x->archive, &passed, r.p);
	}
	free(s->stats.v);
	x->archive->n_keyless += s->stats.n_keyless;
	return rc;
}

static int keep(struct indexing *x, struct archive_plane *plane, struct survey *s)
{
	const struct pb_field *name = s->name.n_bytes ? &s->name : &s->display_name;

	if (s->line.n_events == 0)
		return 0;
	s->line.name = strndup(indexing_get_name(x, name), name->n_bytes);
	if (!s->line.name || grow(&plane->lines, &plane->n_lines_allocated, plane->n_lines + 1)) {
		free(s->line.name);
		return indexing_fail_memory(x);
	}
	s->line.is_counters = strcmp(s->line.name, LINE_COUNTERS) == 0;
	s->line.is_async = !s->has_sync && !s->line.is_counters;
	plane->lines[plane->n_lines++] = s->line;
	return 0;
}

int archive_index_line(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *field)
{
	struct survey s = {.has_sync = false};
	int rc = read_header(x, &s, field);

	s.line.position = plane->n_lines_read++;
	if (rc == 0)
		rc = survey_events(x, plane, &s, field);
	return rc ? rc : keep(x, plane, &s);
}
