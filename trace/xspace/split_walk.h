/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over an XSpace, for split.c, split_write.c and graft.c: what it is made of, as bytes. */
#ifndef TRACE_SPLIT_WALK_H
#define TRACE_SPLIT_WALK_H

#include <stddef.h>
#include <stdint.h>

struct pb_field;
struct split;

struct split_visitor {
	/* |message|, a plane or a line, begins, as a field of what was begun before; it ends. |line_ns|: a line's time. */
	int (*begin)(
		uint32_t number, const struct pb_field *message, int64_t line_ns, void *context);
	int (*end)(void *context);
	/* An event: its field as it is, and when it begins, in ns. */
	int (*event)(int64_t time_ns, const uint8_t *p, size_t n, void *context);
	/* Any other field. */
	int (*other)(const uint8_t *p, size_t n, void *context);
	void *context;
};

/* Until one of them returns other than 0, which is then returned; -EBADMSG. */
int split_walk(const struct split *s, const struct split_visitor *v);

#endif
