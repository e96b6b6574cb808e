/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the trace's warnings: into the arena, where the server finds them. */
#ifndef COLLECT_SAID_H
#define COLLECT_SAID_H

#include <stdint.h>

struct arena_collect;

/* Of one capture; zero but for |to|. */
struct said {
	struct arena_collect *to;
	uint32_t end; /* behind the last one that did fit */
	unsigned n_left_out;
};

/*
 * "|who|: |sentence|", or the sentence alone (|who| NULL); nothing of one that is empty, or was said before. What does not fit is
 * counted in a last one. The collectors' thread.
 */
void said_add(struct said *s, const char *who, const char *sentence);

#endif
