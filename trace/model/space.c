/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and frees the trace model. Events are added to a line and sorted in line.c. */
#include "trace/model/space.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

int space_new(struct space **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : -ENOMEM;
}

struct plane *plane_free(struct plane *plane)
{
	if (!plane)
		return NULL;
	for (size_t i = 0; i < plane->n_lines; i++) {
		free(plane->lines[i].name);
		free(plane->lines[i].events);
	}
	for (size_t i = 0; i < plane->n_blobs; i++)
		free(plane->blobs[i].data);
	names_deinit(&plane->event_names);
	names_deinit(&plane->stat_names);
	free(plane->lines);
	free(plane->stats);
	free(plane->plane_stats);
	free(plane->blobs);
	free(plane->own_texts);
	free(plane->name);
	free(plane);
	return NULL;
}

struct space *space_free(struct space *space)
{
	if (!space)
		return NULL;
	for (size_t i = 0; i < space->n_planes; i++)
		plane_free(space->planes[i]);
	for (size_t i = 0; i < space->n_parts; i++)
		free(space->parts[i].data);
	names_deinit(&space->warnings);
	names_deinit(&space->errors);
	names_deinit(&space->hostnames);
	free(space->planes);
	free(space->parts);
	free(space);
	return NULL;
}

struct plane *plane_new(int64_t id, const char *name)
{
	struct plane *plane = calloc(1, sizeof *plane);

	if (!plane)
		return NULL;
	plane->id = id;
	plane->name = strdup(name);
	return plane->name ? plane : plane_free(plane);
}

int space_take_plane(struct space *space, struct plane *plane)
{
	if (grow(&space->planes, &space->n_planes_allocated, space->n_planes + 1)) {
		plane_free(plane);
		return -ENOMEM;
	}
	space->planes[space->n_planes++] = plane;
	return 0;
}

int space_take_part(struct space *space, uint8_t *data, size_t n)
{
	if (grow(&space->parts, &space->n_parts_allocated, space->n_parts + 1)) {
		free(data);
		return -ENOMEM;
	}
	space->parts[space->n_parts++] = (struct blob){data, n};
	return 0;
}

struct plane *space_add_plane(struct space *space, int64_t id, const char *name)
{
	struct plane *plane = plane_new(id, name);

	return plane && space_take_plane(space, plane) == 0 ? plane : NULL;
}

struct plane *space_find_plane(const struct space *space, const char *name)
{
	for (size_t i = 0; i < space->n_planes; i++) {
		if (strcmp(space->planes[i]->name, name) == 0)
			return space->planes[i];
	}
	return NULL;
}

bool space_is_empty(const struct space *space)
{
	for (size_t i = 0; i < space->n_planes; i++)
		for (size_t j = 0; j < space->planes[i]->n_lines; j++)
			if (line_count_events(&space->planes[i]->lines[j]))
				return false;
	return space->n_parts == 0;
}

int space_add_warning(struct space *space, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return names_intern(&space->warnings, text, (size_t)n) == NAMES_NONE ? -ENOMEM : 0;
}

struct line *plane_add_line(struct plane *plane, int64_t id, const char *name, size_t n_events_hint)
{
	struct line line = {.id = id, .n_allocated = n_events_hint};

	if (grow(&plane->lines, &plane->n_lines_allocated, plane->n_lines + 1))
		return NULL;
	line.name = strdup(name);
	if (n_events_hint)
		line.events = reallocarray(NULL, n_events_hint, sizeof *line.events);
	if (!line.name || (n_events_hint && !line.events)) {
		free(line.name);
		free(line.events);
		return NULL;
	}
	plane->lines[plane->n_lines] = line;
	return &plane->lines[plane->n_lines++];
}

uint32_t plane_add_stats(struct plane *plane, const struct trace_stat *stats, size_t n)
{
	size_t first = plane->n_stats;

	if (n == 0 || n > TRACE_MAX_STATS - 1 - first)
		return 0;
	if (grow(&plane->stats, &plane->n_stats_allocated, first + n))
		return 0;
	memcpy(plane->stats + first, stats, n * sizeof *stats);
	for (size_t i = 0; i < n; i++)
		plane->stats[first + i].is_last = i == n - 1;
	plane->n_stats += n;
	return (uint32_t)first + 1;
}

const struct trace_stat *plane_get_stats(const struct plane *plane, const struct trace_event *event)
{
	return event->stats ? &plane->stats[event->stats - 1] : NULL;
}

const struct trace_stat *stat_next(const struct trace_stat *stat)
{
	return stat->is_last ? NULL : stat + 1;
}

const struct trace_stat *plane_find_stat(
	const struct plane *plane, const struct trace_event *event, uint32_t name)
{
	const struct trace_stat *stat = plane_get_stats(plane, event);

	while (stat && stat->name != name)
		stat = stat_next(stat);
	return stat;
}

int plane_add_own_stat(struct plane *plane, const struct trace_stat *stat)
{
	if (grow(&plane->plane_stats, &plane->n_plane_stats_allocated, plane->n_plane_stats + 1))
		return -ENOMEM;
	plane->plane_stats[plane->n_plane_stats++] = *stat;
	return 0;
}

static struct trace_stat *find_own_stat(const struct plane *plane, uint32_t name)
{
	for (size_t i = 0; i < plane->n_plane_stats; i++) {
		if (plane->plane_stats[i].name == name)
			return &plane->plane_stats[i];
	}
	return NULL;
}

static int set_own_stat(struct plane *plane, const char *name, struct trace_stat stat)
{
	struct trace_stat *old;

	stat.name = names_intern(&plane->stat_names, name, strlen(name));
	if (stat.name == NAMES_NONE)
		return -ENOMEM;
	old = find_own_stat(plane, stat.name);
	if (!old)
		return plane_add_own_stat(plane, &stat);
	*old = stat;
	return 0;
}

int plane_set_int(struct plane *plane, const char *name, int64_t value)
{
	return set_own_stat(
		plane, name, (struct trace_stat){.type = STAT_INT64, .value.i64 = value});
}

int plane_set_uint(struct plane *plane, const char *name, uint64_t value)
{
	return set_own_stat(
		plane, name, (struct trace_stat){.type = STAT_UINT64, .value.u64 = value});
}

int plane_set_string(struct plane *plane, const char *name, const char *value)
{
	struct trace_stat stat = {.type = STAT_STRING};

	stat.value.string = names_intern(&plane->stat_names, value, strlen(value));
	return stat.value.string == NAMES_NONE ? -ENOMEM : set_own_stat(plane, name, stat);
}

uint32_t plane_add_blob(struct plane *plane, const void *data, size_t n)
{
	struct blob blob = {.n_bytes = n};

	if (plane->n_blobs >= NAMES_NONE ||
		grow(&plane->blobs, &plane->n_blobs_allocated, plane->n_blobs + 1))
		return NAMES_NONE;
	blob.data = malloc(n ? n : 1);
	if (!blob.data)
		return NAMES_NONE;
	if (n)
		memcpy(blob.data, data, n);
	plane->blobs[plane->n_blobs] = blob;
	return (uint32_t)plane->n_blobs++;
}

uint32_t plane_add_own_text(struct plane *plane, const char *text, size_t n)
{
	size_t at = plane->n_own_bytes;

	n = strnlen(text, n);
	if (at + n >= NAMES_NONE || grow(&plane->own_texts, &plane->n_own_allocated, at + n + 1))
		return NAMES_NONE;
	memcpy(plane->own_texts + at, text, n);
	plane->own_texts[at + n] = '\0';
	plane->n_own_bytes += n + 1;
	return (uint32_t)at;
}

int plane_set_bytes(struct plane *plane, const char *name, const void *data, size_t n)
{
	struct trace_stat stat = {.type = STAT_BYTES};

	stat.value.bytes = plane_add_blob(plane, data, n);
	return stat.value.bytes == NAMES_NONE ? -ENOMEM : set_own_stat(plane, name, stat);
}

const struct trace_stat *plane_find_own_stat(const struct plane *plane, const char *name)
{
	uint32_t index = names_find(&plane->stat_names, name);

	return index == NAMES_NONE ? NULL : find_own_stat(plane, index);
}

int64_t plane_find_int(const struct plane *plane, const char *name)
{
	const struct trace_stat *stat = plane ? plane_find_own_stat(plane, name) : NULL;

	if (!stat || (stat->type != STAT_INT64 && stat->type != STAT_UINT64))
		return 0;
	return stat->value.i64;
}

const char *plane_find_text(const struct plane *plane, const char *name)
{
	const struct trace_stat *stat = plane ? plane_find_own_stat(plane, name) : NULL;
	const char *text;

	if (!stat || stat->type != STAT_STRING)
		return NULL;
	text = names_get(&plane->stat_names, stat->value.string);
	return *text ? text : NULL;
}
