/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planes of an archive. What refers to names may stand in front of them, so the fields are walked three times: for the
 * names, for what the names say of themselves, and for the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/read/archive.h"
#include "trace/read/archive_index.h"
#include "trace/read/event.h"
#include "trace/xspace/pbwire.h"

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

typedef int (*read_fn)(struct indexing *x, struct archive_plane *plane, const struct pb_field *f);

/* Each field of a message, and what is wrong in one that cannot be read. */
static int walk(struct indexing *x, struct archive_plane *plane, const struct pb_field *message,
	const char *what, read_fn read)
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0) {
		rc = read(x, plane, &f);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? indexing_fail(x, &r, what) : 0;
}

/* Names. */

struct metadata {
	int64_t id;
	struct pb_field value; /* the message; empty: none */
	struct pb_field name;
};

static int find_name(struct indexing *x, struct metadata *m)
{
	struct pb_reader r = pb_enter(&m->value);
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&r, &f)) > 0)
		if (f.tag == PB_TAG(2, PB_LEN))
			m->name = f;
	return rc < 0 ? indexing_fail(x, &r, "a metadata value") : 0;
}

/* The map's entry: {key = 1, value = 2}. The key counts; the id inside is a copy of it. */
static int read_metadata(struct indexing *x, const struct pb_field *message, struct metadata *m)
{
	struct pb_reader r = pb_enter(message);
	struct pb_field f;
	int rc;

	*m = (struct metadata){0};
	while ((rc = pb_next(&r, &f)) > 0) {
		if (f.tag == PB_TAG(1, PB_VARINT))
			m->id = (int64_t)f.value;
		else if (f.tag == PB_TAG(2, PB_LEN))
			m->value = f;
	}
	return rc < 0 ? indexing_fail(x, &r, "a metadata entry") : find_name(x, m);
}

static uint32_t intern(struct indexing *x, struct names *names, const struct pb_field *f)
{
	return names_intern(names, indexing_get_name(x, f), f->n_bytes);
}

static int add_event_name(struct indexing *x, struct archive_plane *plane, const struct metadata *m)
{
	struct archive_event_name name = {.name = intern(x, &x->archive->names, &m->name)};

	if (name.name == NAMES_NONE ||
		grow(&plane->event_names, &plane->n_event_names_allocated,
			plane->n_event_names + 1) ||
		idmap_add(&plane->events, m->id, (uint32_t)plane->n_event_names))
		return indexing_fail_memory(x);
	plane->event_names[plane->n_event_names++] = name;
	return 0;
}

static int add_stat_name(struct indexing *x, struct archive_plane *plane, const struct metadata *m)
{
	uint32_t index = intern(x, &plane->stat_names, &m->name);

	if (index == NAMES_NONE || idmap_add(&plane->stats, m->id, index))
		return indexing_fail_memory(x);
	return 0;
}

static int copy_name(struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	free(plane->name);
	plane->name = strndup(indexing_get_name(x, f), f->n_bytes);
	return plane->name ? 0 : indexing_fail_memory(x);
}

static int read_names(struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct metadata m;
	int rc;

	switch (f->tag) {
	case PB_TAG(1, PB_VARINT):
		plane->id = (int64_t)f->value;
		return 0;
	case PB_TAG(2, PB_LEN):
		return copy_name(x, plane, f);
	case PB_TAG(4, PB_LEN):
		rc = read_metadata(x, f, &m);
		return rc ? rc : add_event_name(x, plane, &m);
	case PB_TAG(5, PB_LEN):
		rc = read_metadata(x, f, &m);
		return rc ? rc : add_stat_name(x, plane, &m);
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

/* What the names say of themselves. */

static int read_name_stat(struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct pb_reader bad;
	int rc;

	if (f->tag != PB_TAG(5, PB_LEN))
		return 0;
	rc = stat_read(plane, f, &plane->name_stats, &bad);
	if (rc)
		return rc == -EBADMSG ? indexing_fail(x, &bad, "a stat") : indexing_fail_memory(x);
	return 0;
}

static int read_name_stats(
	struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct archive_event_name *name;
	size_t first = plane->name_stats.n;
	struct metadata m;
	uint32_t index;
	int rc;

	if (f->tag != PB_TAG(4, PB_LEN))
		return 0;
	rc = read_metadata(x, f, &m);
	if (rc == 0 && m.value.n_bytes)
		rc = walk(x, plane, &m.value, "a metadata value", read_name_stat);
	if (rc || plane->name_stats.n == first)
		return rc;
	index = idmap_find(&plane->events, m.id);
	if (index == IDMAP_NONE)
		return indexing_fail_changed(x);
	name = &plane->event_names[index];
	name->first_stat = first;
	name->n_stats = (uint32_t)(plane->name_stats.n - first);
	return 0;
}

/* The rest. */

static int read_part(struct indexing *x, struct archive_plane *plane, const struct pb_field *f)
{
	struct pb_reader bad;
	int rc;

	if (f->tag == PB_TAG(3, PB_LEN))
		return archive_index_line(x, plane, f);
	if (f->tag != PB_TAG(6, PB_LEN))
		return 0;
	rc = stat_read(plane, f, &plane->own, &bad);
	if (rc)
		return rc == -EBADMSG ? indexing_fail(x, &bad, "a stat") : indexing_fail_memory(x);
	return 0;
}

static struct archive_plane *add_plane(struct archive *s)
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

/* The mark of a part is no plane of the recording. What makes no sense marks nothing. */
static void take_mark(struct archive *s)
{
	struct archive_plane *plane = &s->planes[s->n_planes - 1];
	int64_t number = archive_plane_find_int(plane, "number");
	int64_t n_parts = archive_plane_find_int(plane, "n_parts");

	if (strcmp(plane->name, PLANE_PART) != 0 || plane->n_lines)
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

int archive_index_plane(struct indexing *x, const struct pb_field *field)
{
	struct archive_plane *plane = add_plane(x->archive);
	int rc;

	if (!plane)
		return indexing_fail_memory(x);
	rc = walk(x, plane, field, "a plane", read_names);
	idmap_sort(&plane->events);
	idmap_sort(&plane->stats);
	if (rc == 0)
		rc = assign_roles(x, plane);
	if (rc == 0)
		rc = walk(x, plane, field, "a plane", read_name_stats);
	if (rc == 0)
		rc = walk(x, plane, field, "a plane", read_part);
	if (rc == 0)
		rc = archive_name_unknown(x, plane);
	if (rc == 0)
		take_mark(x->archive);
	return rc;
}
