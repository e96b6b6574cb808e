/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a line's events in their order, of a line that is not in order in its file. */
#ifndef TRACE_READ_ORDER_H
#define TRACE_READ_ORDER_H

#include <stddef.h>

struct cursor_place;
struct archive_line;
struct archive_plane;

/* 0 and a malloc'ed array of the line's n_events places (*n: fewer if somebody changed the file), or -ENOMEM. */
int order_make(const struct archive_plane *plane, const struct archive_line *line,
	struct cursor_place **out, size_t *n);

#endif
