/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over an encoded XSpace, for split.c and graft.c: a visitor gets its planes, lines and
 * events as bytes.
 */
#ifndef TRACE_SPLIT_WALK_H
#define TRACE_SPLIT_WALK_H

#include <stddef.h>
#include <stdint.h>

struct pb_field;
struct split;

struct split_visitor {
	/*
	 * A plane, or a line in it, begins and ends. |number| is its field's number in the message
	 * that it is in; |line_ns| is the timestamp of a line.
	 */
	int (*begin)(
		uint32_t number, const struct pb_field *message, int64_t line_ns, void *context);
	int (*end)(void *context);
	/* The bytes of an event's field, and its start in ns. */
	int (*event)(int64_t time_ns, const uint8_t *p, size_t n, void *context);
	/* The bytes of any other field. */
	int (*other)(const uint8_t *p, size_t n, void *context);
	void *context;
};

/* Ends early with the result of a callback that is not 0; -EBADMSG if the bytes are no XSpace. */
int split_walk(const struct split *s, const struct split_visitor *v);

#endif
