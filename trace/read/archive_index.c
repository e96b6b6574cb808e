/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the index of an archive. Fields of a plane may stand in front of the names that they refer
 * to, so its fields are walked three times: for the names, for the stats of the names, and for the
 * rest. Each event of a line is read once, to check that it can be read, and to find the order and
 * the times of the line.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/event.h"
#include "trace/saturate.h"

/*
 * Limit of names made of ids: all further ids share one name, so that memory does not grow with
 * events.
 */
#define MAX_UNKNOWN 1000
#define UNKNOWN "?"

struct indexing {
	struct archive *archive;
	const struct archive_survey *survey; /* NULL: lines and names are kept */
	struct diag *diag;
};

struct line_survey {
	struct archive_line line;
	struct wire_line header;
	int64_t last_start_ns;
	int64_t last_duration_ns;
	bool has_sync;
	struct archive_stats stats; /* stats of one event */
};

static const char *const role_names[] = {
	[ROLE_STEP_NUM] = "step_num",
	[ROLE_UNFINISHED] = "unfinished",
	[ROLE_STARTED_BEFORE] = "started_before",
	[ROLE_CORRELATION] = "correlation_id",
	[ROLE_ROOT] = "_r",
	[ROLE_ASYNC] = "_a",
	[ROLE_PRODUCER_TYPE] = "_pt",
	[ROLE_PRODUCER] = "_p",
	[ROLE_CONSUMER_TYPE] = "_ct",
	[ROLE_CONSUMER] = "_c",
};

/* --- errors and names ---------------------------------------------------------------------- */

/* Returns a name's bytes, never NULL, and counts names that are cut at a zero byte. */
static const char *indexing_get_name(struct indexing *x, const struct pb_field *f)
{
	const char *text = f->n_bytes ? (const char *)f->data : "";

	x->archive->n_cut += f->n_bytes && memchr(text, 0, f->n_bytes);
	return text;
}

/* Returns the archive's name for messages; a survey has no path. */
static const char *indexing_get_path(const struct indexing *x)
{
	return x->archive->path ? x->archive->path : "trace";
}

static int indexing_fail_memory(struct indexing *x)
{
	return diag_set(
		x->diag, -ENOMEM, "%s: out of memory while reading it", indexing_get_path(x));
}

/* The file was changed between two walks. */
static int indexing_fail_changed(struct indexing *x)
{
	return diag_set(x->diag, -EBADMSG, "%.300s: it was changed while it was read",
		indexing_get_path(x));
}

static int indexing_fail_bytes(struct indexing *x, const struct wire_fault *fault)
{
	const char *path = x->archive->path;

	return diag_set(x->diag, -EBADMSG, "%.300s%sat byte %zu, in %s: %s; is it whole?",
		path ? path : "", path ? ": not a readable trace: " : "",
		(size_t)(fault->p - x->archive->data), fault->message, fault->error);
}

/* |message| is the kind of message that is broken at |at|. */
static int indexing_fail(struct indexing *x, const struct pb_reader *at, const char *message)
{
	return indexing_fail_bytes(x, &(struct wire_fault){at->p, message, at->error});
}

/* |r| is the error of event_read() or stat_read(). */
static int indexing_fail_event(struct indexing *x, int r, const struct wire_fault *fault)
{
	return r == -EBADMSG ? indexing_fail_bytes(x, fault) : indexing_fail_memory(x);
}

/* --- names that are not in the file -------------------------------------------------------- */

static int add_unknown_name(struct indexing *x, struct archive_plane *plane, int64_t id)
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

static int index_unknown_name(struct indexing *x, struct archive_plane *plane, uint32_t i)
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

/* Adds the names made of ids to the plane's event names, after all its lines were read. */
static int index_unknown_names(struct indexing *x, struct archive_plane *plane)
{
	int r = 0;

	for (uint32_t i = 0; i < plane->unknown.n_texts && r == 0; i++)
		r = index_unknown_name(x, plane, i);
	if (plane->unknown.n_texts)
		idmap_sort(&plane->events);
	return r;
}

/* --- lines --------------------------------------------------------------------------------- */

/* Notes that the bytes before |p| were read. */
static int indexing_pass(struct indexing *x, const uint8_t **passed, const uint8_t *p)
{
	archive_pass(x->archive, passed, p);
	return x->survey && x->survey->pass ? x->survey->pass(p, x->survey->context) : 0;
}

/* A zero byte ends the name, as in the names that are kept. */
static bool name_is(const struct pb_field *name, const char *text)
{
	size_t n = strlen(text);

	return name->n_bytes >= n && memcmp(name->data, text, n) == 0 &&
	       (name->n_bytes == n || !name->data[n]);
}

static int read_line_header(struct indexing *x, struct line_survey *s, const struct pb_field *field)
{
	struct pb_reader reader = pb_enter(field);
	const uint8_t *passed = NULL;
	struct wire_fault fault;
	int r;

	while ((r = wire_line_next(&reader, &s->header, &fault)) > 0) {
		r = indexing_pass(x, &passed, reader.p);
		if (r)
			return r;
	}
	if (r < 0)
		return indexing_fail_bytes(x, &fault);
	s->line.data = field->data;
	s->line.n_bytes = field->n_bytes;
	s->line.id = s->header.id;
	s->line.base_ns = s->header.timestamp_ns;
	s->line.is_counters = name_is(wire_line_get_name(&s->header), LINE_COUNTERS);
	return 0;
}

static void count_event(struct line_survey *s, const struct archive_event *e, uint32_t series)
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

static int survey_event(struct indexing *x, struct archive_plane *plane, struct line_survey *s,
	const struct pb_field *field)
{
	struct archive_event e;
	struct event_marks marks;
	struct wire_fault fault;
	int r;

	s->stats.n = 0;
	r = event_read(plane, s->line.base_ns, field, &e, &s->stats, &fault);
	if (r)
		return indexing_fail_event(x, r, &fault);
	if (e.is_aggregated) {
		x->archive->n_aggregated++;
		return 0;
	}
	marks = event_find_marks(plane, &s->stats);
	s->has_sync = s->has_sync || !marks.is_async;
	count_event(s, &e,
		e.name == ARCHIVE_NO_NAME ? ARCHIVE_NO_NAME : plane->event_names[e.name].name);
	if (x->survey) {
		x->survey->take_event(plane, &s->line, &e, &marks, x->survey->context);
		return 0;
	}
	return e.name == ARCHIVE_NO_NAME ? add_unknown_name(x, plane, e.id) : 0;
}

static int survey_events(struct indexing *x, struct archive_plane *plane, struct line_survey *s,
	const struct pb_field *field)
{
	struct pb_reader reader = pb_enter(field);
	const uint8_t *passed = NULL;
	struct pb_field f;
	int r = 0;

	while (r == 0 && pb_next(&reader, &f) > 0) {
		if (f.tag == PB_TAG(4, PB_LEN))
			r = survey_event(x, plane, s, &f);
		if (r == 0)
			r = indexing_pass(x, &passed, reader.p);
	}
	free(s->stats.v);
	x->archive->n_keyless += s->stats.n_keyless;
	return r;
}

/* Adds the line, which has events, to the plane. */
static int plane_keep_line(struct indexing *x, struct archive_plane *plane, struct line_survey *s)
{
	const struct pb_field *name = wire_line_get_name(&s->header);

	s->line.name = strndup(indexing_get_name(x, name), name->n_bytes);
	if (!s->line.name || grow(&plane->lines, &plane->n_lines_allocated, plane->n_lines + 1)) {
		free(s->line.name);
		return indexing_fail_memory(x);
	}
	plane->lines[plane->n_lines++] = s->line;
	return 0;
}

/* Indexes an XLine of |plane|, whose metadata was read completely before. */
static int index_line(struct indexing *x, struct archive_plane *plane, const struct pb_field *field)
{
	struct line_survey s = {.has_sync = false};
	int r = read_line_header(x, &s, field);

	s.line.position = plane->n_lines_read++;
	if (r == 0)
		r = survey_events(x, plane, &s, field);
	if (r || s.line.n_events == 0)
		return r;
	s.line.is_async = !s.has_sync && !s.line.is_counters;
	if (!x->survey)
		return plane_keep_line(x, plane, &s);
	x->survey->end_line(plane, &s.line, x->survey->context);
	return 0;
}

/* --- planes -------------------------------------------------------------------------------- */

typedef int (*field_reader)(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f);

/* Calls |read| for each field of a message; |what| names the message in errors. */
static int walk_message(struct indexing *x, struct archive_plane *plane,
	const struct pb_field *message, const char *what, field_reader read)
{
	struct pb_reader reader = pb_enter(message);
	struct pb_field f;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		r = read(x, plane, &f);
		if (r)
			return r;
	}
	return r < 0 ? indexing_fail(x, &reader, what) : 0;
}

static int read_metadata(
	struct indexing *x, const struct pb_field *message, struct wire_metadata *m)
{
	struct wire_fault fault;

	return wire_metadata_read(message, m, &fault) ? indexing_fail_bytes(x, &fault) : 0;
}

static uint32_t intern_name(struct indexing *x, struct names *names, const struct pb_field *f)
{
	return names_intern(names, indexing_get_name(x, f), f->n_bytes);
}

static int add_event_name(
	struct indexing *x, struct archive_plane *plane, const struct wire_metadata *m)
{
	struct archive_event_name name = {.name = intern_name(x, &x->archive->names, &m->name)};

	if (name.name == NAMES_NONE ||
		grow(&plane->event_names, &plane->n_event_names_allocated,
			plane->n_event_names + 1) ||
		idmap_add(&plane->events, m->key, (uint32_t)plane->n_event_names))
		return indexing_fail_memory(x);
	plane->event_names[plane->n_event_names++] = name;
	return 0;
}

static int add_stat_name(
	struct indexing *x, struct archive_plane *plane, const struct wire_metadata *m)
{
	uint32_t index = intern_name(x, &plane->stat_names, &m->name);

	if (index == NAMES_NONE || idmap_add(&plane->stats, m->key, index))
		return indexing_fail_memory(x);
	return 0;
}

static int read_plane_name(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	char *name = strndup(indexing_get_name(x, f), f->n_bytes);

	if (!name)
		return indexing_fail_memory(x);
	free(plane->name);
	plane->name = name;
	return 0;
}

static int read_plane_names(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct wire_metadata m;
	int r;

	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		plane->id = (int64_t)f->value;
		return 0;
	case PB_TAG(2, PB_LEN):
		return read_plane_name(x, plane, f);
	case PB_TAG(4, PB_LEN):
		r = read_metadata(x, f, &m);
		return r ? r : add_event_name(x, plane, &m);
	case PB_TAG(5, PB_LEN):
		r = read_metadata(x, f, &m);
		return r ? r : add_stat_name(x, plane, &m);
	}
	return 0;
}

static int assign_roles(struct indexing *x, struct archive_plane *plane)
{
	plane->roles = calloc((size_t)plane->stat_names.n_texts + 1, 1);
	if (!plane->roles)
		return indexing_fail_memory(x);
	for (uint8_t role = 0; role < sizeof role_names / sizeof role_names[0]; role++) {
		uint32_t index = role_names[role] ? names_find(&plane->stat_names, role_names[role])
						  : NAMES_NONE;

		if (index != NAMES_NONE)
			plane->roles[index] = role;
	}
	return 0;
}

static int read_name_stat(struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct wire_fault fault;
	int r;

	if (f->tag != PB_TAG(5, PB_LEN))
		return 0;
	r = stat_read(plane, f, &plane->name_stats, &fault);
	return r ? indexing_fail_event(x, r, &fault) : 0;
}

static int read_name_stats(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct archive_event_name *name;
	size_t first = plane->name_stats.n;
	struct wire_metadata m;
	uint32_t index;
	int r;

	if (f->tag != PB_TAG(4, PB_LEN))
		return 0;
	r = read_metadata(x, f, &m);
	if (r == 0 && m.value.n_bytes)
		r = walk_message(x, plane, &m.value, "a metadata value", read_name_stat);
	if (r || plane->name_stats.n == first)
		return r;
	index = idmap_find(&plane->events, m.key);
	if (index == IDMAP_NONE)
		return indexing_fail_changed(x);
	name = &plane->event_names[index];
	name->first_stat = first;
	name->n_stats = (uint32_t)(plane->name_stats.n - first);
	return 0;
}

static int read_plane_rest(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct wire_fault fault;
	int r;

	if (f->tag == PB_TAG(3, PB_LEN))
		return index_line(x, plane, f);
	if (f->tag != PB_TAG(6, PB_LEN))
		return 0;
	r = stat_read(plane, f, &plane->own, &fault);
	return r ? indexing_fail_event(x, r, &fault) : 0;
}

static struct archive_plane *archive_add_plane(struct archive *s)
{
	struct archive_plane *plane;

	if (grow(&s->planes, &s->n_planes_allocated, s->n_planes + 1))
		return NULL;
	plane = &s->planes[s->n_planes];
	*plane = (struct archive_plane){.name = strdup("")};
	if (!plane->name)
		return NULL;
	s->n_planes++;
	return plane;
}

/* Removes the plane that marks a part, and sets archive->part unless its numbers make no sense. */
static void take_part_mark(struct archive *s)
{
	struct archive_plane *plane = &s->planes[s->n_planes - 1];
	int64_t number = archive_plane_find_int(plane, "number");
	int64_t n_parts = archive_plane_find_int(plane, "n_parts");

	if (strcmp(plane->name, PLANE_PART) != 0 || plane->n_lines_read)
		return;
	if (number >= 1 && number <= n_parts && n_parts <= ARCHIVE_MAX_PARTS)
		s->part = (struct archive_part){
			.id = (uint64_t)archive_plane_find_int(plane, "id"),
			.number = (uint32_t)number,
			.n_parts = (uint32_t)n_parts,
		};
	archive_plane_deinit(plane);
	s->n_planes--;
}

/* Reads all but the names, which are known. */
static int index_plane_rest(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *field)
{
	int r = walk_message(x, plane, field, "a plane", read_name_stats);

	if (r == 0)
		r = walk_message(x, plane, field, "a plane", read_plane_rest);
	return r ? r : index_unknown_names(x, plane);
}

/* Reads the stats of a name, which must be readable, and forgets them. */
static int survey_name_stats(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	int r = read_name_stats(x, plane, f);

	plane->name_stats.n = 0;
	return r;
}

/*
 * Like index_plane_rest(), for a survey. The names of events are not needed afterwards, and freed.
 */
static int survey_plane(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *field)
{
	int r;

	if (x->survey->begin_plane)
		x->survey->begin_plane(plane, x->survey->context);
	r = walk_message(x, plane, field, "a plane", survey_name_stats);
	if (r == 0)
		r = walk_message(x, plane, field, "a plane", read_plane_rest);
	names_deinit(&x->archive->names);
	idmap_deinit(&plane->events);
	free(plane->event_names);
	plane->event_names = NULL;
	plane->n_event_names = 0;
	plane->n_event_names_allocated = 0;
	return r;
}

/* A program may have such a name, too, but then its plane has no such stat. */
static enum archive_plane_kind find_plane_kind(const struct archive_plane *plane)
{
	if (plane_name_has_suffix(plane->name, PLANE_SAMPLES_SUFFIX) &&
		names_find(&plane->stat_names, PLANE_STACKS) != NAMES_NONE)
		return PLANE_OF_SAMPLES;
	if (plane_name_has_suffix(plane->name, PLANE_STATES_SUFFIX) &&
		names_find(&plane->stat_names, PLANE_SHORT_WAITS) != NAMES_NONE)
		return PLANE_OF_STATES;
	return PLANE_OF_EVENTS;
}

static int index_plane(struct indexing *x, const struct pb_field *field)
{
	struct archive_plane *plane = archive_add_plane(x->archive);
	int r;

	if (!plane)
		return indexing_fail_memory(x);
	r = walk_message(x, plane, field, "a plane", read_plane_names);
	idmap_sort(&plane->events);
	idmap_sort(&plane->stats);
	if (r == 0)
		r = assign_roles(x, plane);
	if (r == 0)
		plane->kind = find_plane_kind(plane);
	if (r == 0)
		r = x->survey ? survey_plane(x, plane, field) : index_plane_rest(x, plane, field);
	if (r == 0)
		take_part_mark(x->archive);
	return r;
}

void archive_plane_deinit(struct archive_plane *plane)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		free(plane->lines[i].name);
	free(plane->lines);
	free(plane->behind);
	free(plane->name);
	idmap_deinit(&plane->events);
	free(plane->event_names);
	free(plane->name_stats.v);
	idmap_deinit(&plane->stats);
	names_deinit(&plane->stat_names);
	names_deinit(&plane->unknown);
	free(plane->unknown_ids);
	free(plane->roles);
	free(plane->own.v);
	free(plane->keys);
}

/* --- the space ----------------------------------------------------------------------------- */

static int intern_text(struct indexing *x, struct names *names, const struct pb_field *f)
{
	const char *text = f->n_bytes ? (const char *)f->data : "";

	return names_intern(names, text, f->n_bytes) == NAMES_NONE ? indexing_fail_memory(x) : 0;
}

static int index_space_field(struct indexing *x, const struct pb_field *f)
{
	switch (f->tag) {
	case PB_TAG(1, PB_LEN):
		return index_plane(x, f);
	case PB_TAG(2, PB_LEN):
		return intern_text(x, &x->archive->errors, f);
	case PB_TAG(3, PB_LEN):
		return intern_text(x, &x->archive->warnings, f);
	case PB_TAG(4, PB_LEN):
		return intern_text(x, &x->archive->hostnames, f);
	}
	return 0;
}

int archive_index(struct archive *archive, const struct archive_survey *survey, struct diag *d)
{
	struct pb_reader reader = pb_reader(archive->data, archive->n_bytes);
	struct indexing x = {archive, survey, d};
	struct pb_field f;
	int r;

	while ((r = pb_next(&reader, &f)) > 0) {
		r = index_space_field(&x, &f);
		if (r)
			return r;
	}
	return r < 0 ? indexing_fail(&x, &reader, "the space") : 0;
}
