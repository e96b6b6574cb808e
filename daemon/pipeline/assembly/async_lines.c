/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of async spans; see async_lines.h. */
#include "daemon/pipeline/assembly/async_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "daemon/pipeline/assembly/line_id.h"
#include "trace/model/space.h"

/*
 * A person looks at lines: more of one name, or in all, tell nothing. Spans for which none of these is free lie on one more line
 * of their name, which need not be free: readers know that async spans overlap, and count them all. A plane has at most
 * MAX_LINES of them, and one for each name.
 */
#define MAX_LINES_OF_NAME 255
#define MAX_LINES 4096
#define SHARED_LINE MAX_LINES_OF_NAME

struct builder {
	struct plane *plane;
	const _Atomic int *cancel;
	uint16_t *line_of; /* of the spans of the name at hand */
	size_t n_lines; /* of all names */
};

static int compare_spans(const void *left, const void *right)
{
	const struct trace_event *a = left;
	const struct trace_event *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->duration_ns > b->duration_ns ? -1 : a->duration_ns < b->duration_ns;
}

/* The first of |*n_lines| lines that is free at |start_ns|, or one more, or the one that is shared. */
static int find_line(
	const struct builder *b, const int64_t *ends_ns, int *n_lines, int64_t start_ns)
{
	for (int i = 0; i < *n_lines; i++)
		if (ends_ns[i] <= start_ns)
			return i;
	if (*n_lines == MAX_LINES_OF_NAME || b->n_lines + (size_t)*n_lines >= MAX_LINES)
		return SHARED_LINE;
	return (*n_lines)++;
}

/*
 * Chooses the lines of |n| spans of one name; |counts| becomes the number of spans on each, 0 of those that are not there. 0 or
 * -ECANCELED.
 */
static int distribute(struct builder *b, const struct trace_event *spans, size_t n, size_t *counts)
{
	int64_t ends_ns[MAX_LINES_OF_NAME];
	int n_lines = 0;

	memset(counts, 0, (SHARED_LINE + 1) * sizeof *counts);
	for (size_t i = 0; i < n; i++) {
		int line = find_line(b, ends_ns, &n_lines, spans[i].start_ns);

		if (cancel_look_at(b->cancel, i))
			return -ECANCELED;
		b->line_of[i] = (uint16_t)line;
		counts[line]++;
		if (line != SHARED_LINE)
			ends_ns[line] = spans[i].start_ns + spans[i].duration_ns;
	}
	return 0;
}

static int add_line(struct builder *b, uint32_t name, size_t n_spans)
{
	int64_t id = LINE_ID_FIRST_ASYNC + (int64_t)b->n_lines++;

	return plane_add_line(b->plane, id, names_get(&b->plane->event_names, name), n_spans)
		       ? 0
		       : -ENOMEM;
}

static int add_lines_of_name(struct builder *b, const struct trace_event *spans, size_t n)
{
	size_t counts[SHARED_LINE + 1];
	size_t places[SHARED_LINE + 1];
	int r = distribute(b, spans, n, counts);

	for (int i = 0; i <= SHARED_LINE && !r; i++) {
		places[i] = b->plane->n_lines;
		if (counts[i])
			r = add_line(b, spans[0].name, counts[i]);
	}
	for (size_t i = 0; i < n && !r; i++)
		r = line_add_event(&b->plane->lines[places[b->line_of[i]]], &spans[i]);
	return r;
}

static int add_lines(struct builder *b, const struct trace_event *spans, size_t n)
{
	size_t first = 0;
	int r = 0;

	for (size_t i = 1; i <= n && !r; i++) {
		if (i < n && spans[i].name == spans[first].name)
			continue;
		r = add_lines_of_name(b, spans + first, i - first);
		first = i;
	}
	return r;
}

int async_lines_add(
	struct plane *plane, struct trace_event *spans, size_t n, const _Atomic int *cancel)
{
	_cleanup_free_ uint16_t *line_of = reallocarray(NULL, n + 1, sizeof *line_of);
	struct builder b = {.plane = plane, .cancel = cancel, .line_of = line_of};

	if (!line_of)
		return -ENOMEM;
	qsort(spans, n, sizeof *spans, compare_spans);
	return add_lines(&b, spans, n);
}
