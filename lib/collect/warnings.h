/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors' warnings for the trace, in the arena, where the server finds them. */
#ifndef COLLECT_WARNINGS_H
#define COLLECT_WARNINGS_H

#include <stdint.h>

struct arena_collect;

/* The warnings of one capture. All fields begin as zero but |to|. */
struct collect_warnings {
	struct arena_collect *to;
	uint32_t end; /* bytes used, behind the last warning that fitted */
	unsigned n_left_out;
};

/*
 * Adds "|who|: |sentence|", or the sentence alone (|who| NULL), unless it is empty or was added
 * before. Warnings without room are counted in a last one. Runs on the collectors' thread.
 */
void collect_warn(struct collect_warnings *s, const char *who, const char *sentence);

#endif
