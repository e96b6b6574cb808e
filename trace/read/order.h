/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the events of a line that are out of order in the file. */
#ifndef TRACE_READ_ORDER_H
#define TRACE_READ_ORDER_H

#include <stddef.h>

struct cursor_place;
struct archive_line;
struct archive_plane;

/*
 * 0 and a malloc'ed array of the line's n_events places, or -ENOMEM. *n is smaller if the file was
 * changed meanwhile.
 */
int order_make(const struct archive_plane *plane, const struct archive_line *line,
	struct cursor_place **out, size_t *n);

#endif
