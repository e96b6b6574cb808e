/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An append-only set of strings, numbered from 0 in order of first use. A set of all zero bytes is
 * empty.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct names {
	char **texts;
	uint32_t n_texts;
	size_t n_allocated;
	struct hash_table table; /* from texts to their indices */
};

#define NAMES_NONE UINT32_MAX /* out of memory, or not in the set */

void names_deinit(struct names *names);
/*
 * Returns the index of |text| (|n| bytes, no NUL needed), and adds it if it is new; NAMES_NONE when
 * memory ran out. A text with a NUL inside ends there.
 */
uint32_t names_intern(struct names *names, const char *text, size_t n);
/* Adds all texts of |from| that are new to |to|. 0 or -ENOMEM. */
int names_add_all(struct names *to, const struct names *from);
/* Returns the index of the terminated |text|, or NAMES_NONE if it is not in the set. */
uint32_t names_find(const struct names *names, const char *text);
/* Like names_find(), for the first |n| bytes at |text|; a NUL ends the text earlier. */
uint32_t names_search(const struct names *names, const char *text, size_t n);
/* The text is borrowed; it is "" for an index that is out of range. */
const char *names_get(const struct names *names, uint32_t index);

#endif
