/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An append-only set of strings, numbered from 0 in order of first use. All zero bytes is the empty
 * set.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Empty when |number| is 0. */
struct text_slot {
	uint32_t hash;
	uint32_t number; /* index + 1 */
};

struct names {
	char **texts;
	uint32_t n_texts;
	size_t n_allocated;
	struct text_slot *slots;
	uint32_t n_slots; /* 0 or a power of two */
};

#define NAMES_NONE UINT32_MAX /* out of memory, or not in the set */

void names_deinit(struct names *names);
/*
 * The index of |text| (|n| bytes, no NUL needed), added if new; NAMES_NONE when memory ran out. A
 * text with a NUL inside ends there.
 */
uint32_t names_intern(struct names *names, const char *text, size_t n);
/* The index of |text| (terminated) if it is in the set, else NAMES_NONE. */
uint32_t names_find(const struct names *names, const char *text);
/* The same of |n| bytes, as names_intern() takes them. */
uint32_t names_search(const struct names *names, const char *text, size_t n);
/* Borrowed; "" for an index that is out of range. */
const char *names_get(const struct names *names, uint32_t index);

#endif
