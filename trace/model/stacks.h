/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of a plane's samples. Each frame and each stack is kept once and has a number, counted
 * from 0 in the order of its first use. A stack is a frame and the stack of its callers, so stacks
 * with the same callers share them. All zero is an empty table.
 *
 * There are no locks inside.
 */
#ifndef TRACE_STACKS_H
#define TRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "trace/model/names.h"

#define STACKS_NONE UINT32_MAX /* out of memory; or there is none */
#define STACKS_MAX_DEPTH \
	1024 /* frames of a stack; who adds stacks leaves out the outermost others */

#define STACKS_MAX_INLINED 64 /* frames at one place, with the one that was not inlined */

/* A file whose code ran. Texts are indices into the table's texts. */
struct stack_mapping {
	uint32_t path;
	uint32_t build_id; /* in hexadecimal digits; "": unknown */
};

struct stack_frame {
	uint64_t address; /* offset in the file; without a file, any number */
	uint32_t mapping; /* index into |mappings|; STACKS_NONE: no file */
	/* These texts are "" until stacks_name(). */
	uint32_t function; /* for people */
	uint32_t raw_function; /* as in the file's table of symbols */
	/* The place in the source, where debug information was read. */
	uint32_t file; /* ""; or its path */
	uint32_t line; /* 0: unknown */
	/* The frame of the function that was inlined at this place; STACKS_NONE: none was */
	uint32_t inlined;
	bool is_inlined; /* it is |inlined| of another frame, with the same mapping and address */
};

struct stack {
	uint32_t callers; /* the stack of the callers, a lower number; STACKS_NONE: none */
	uint32_t frame; /* the innermost frame */
};

struct stacks {
	struct names texts;
	struct stack_mapping *mappings;
	size_t n_mappings;
	size_t n_mappings_allocated;
	struct stack_frame *frames;
	size_t n_frames;
	size_t n_frames_allocated;
	struct hash_table frame_table;
	struct stack *v;
	size_t n;
	size_t n_allocated;
	struct hash_table table;
};

void stacks_deinit(struct stacks *s);

/* These return the number of the mapping, frame or stack, or STACKS_NONE when memory ran out. */

/* Always adds a mapping. */
uint32_t stacks_add_mapping(struct stacks *s, const char *path, const char *build_id);
/* Finds or adds a frame. Two frames without a file are equal if their addresses are. */
uint32_t stacks_take_frame(struct stacks *s, uint32_t mapping, uint64_t address);
/* Finds or adds the stack of |frame|, whose callers are the stack |callers| or STACKS_NONE. */
uint32_t stacks_take(struct stacks *s, uint32_t callers, uint32_t frame);

/* Sets both names of a frame. 0 or -ENOMEM. */
int stacks_name(struct stacks *s, uint32_t frame, const char *function, const char *raw_function);

/* Sets the place in the source. 0 or -ENOMEM. */
int stacks_set_place(struct stacks *s, uint32_t frame, const char *file, uint32_t line);
/*
 * Adds the frame of a function that was inlined at the place of |frame|, which has none yet. There
 * may be STACKS_MAX_INLINED at one place.
 * Returns its number, or STACKS_NONE when memory ran out.
 */
uint32_t stacks_add_inlined(struct stacks *s, uint32_t frame);
/*
 * Finds or adds the stack that has, behind each frame of |stack|, the frames that were inlined
 * there. Returns its number, or STACKS_NONE when memory ran out.
 */
uint32_t stacks_take_with_inlined(struct stacks *s, uint32_t stack);

/* Returns the text that is the name for people of the innermost frame. */
uint32_t stacks_get_text(const struct stacks *s, uint32_t stack);
/* The same as a text. Borrowed from |s|. */
const char *stacks_get_function(const struct stacks *s, uint32_t stack);
/*
 * Fills in the stacks from the one of the outermost frame to |stack|, which may be STACKS_NONE.
 * Returns their number. Frames beyond STACKS_MAX_DEPTH, the outermost ones, are left out.
 */
size_t stacks_get_path(const struct stacks *s, uint32_t stack, uint32_t path[STACKS_MAX_DEPTH]);

#endif
