/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap in the caller's array of |n| items of |size| bytes each: the first item comes before
 * all others. The functions are inlined together with the caller's |is_before|.
 *
 *   add:            items[n++] = item; heap_sift_up(items, n, sizeof *items, is_before);
 *   remove first:   items[0] = items[--n]; heap_sift_down(items, n, sizeof *items, is_before);
 *   replace first:  items[0] = item; heap_sift_down(items, n, sizeof *items, is_before);
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEAP_MAX_ITEM_BYTES 256

/* Whether |a| must come before |b|. */
typedef bool heap_is_before(const void *a, const void *b);

static inline __attribute__((always_inline)) void heap_swap(char *a, char *b, size_t size)
{
	char kept[HEAP_MAX_ITEM_BYTES];

	memcpy(kept, a, size);
	memmove(a, b, size);
	memcpy(b, kept, size);
}

/* Moves the last item to its place. */
static inline __attribute__((always_inline)) void heap_sift_up(
	void *items, size_t n, size_t size, heap_is_before *is_before)
{
	char *v = items;

	for (size_t i = n - 1; i && is_before(v + i * size, v + (i - 1) / 2 * size);
		i = (i - 1) / 2)
		heap_swap(v + i * size, v + (i - 1) / 2 * size, size);
}

/* Moves the first item to its place. */
static inline __attribute__((always_inline)) void heap_sift_down(
	void *items, size_t n, size_t size, heap_is_before *is_before)
{
	char *v = items;

	for (size_t i = 0, child = 1; child < n; i = child, child = 2 * i + 1) {
		if (child + 1 < n && is_before(v + (child + 1) * size, v + child * size))
			child++;
		if (!is_before(v + child * size, v + i * size))
			return;
		heap_swap(v + i * size, v + child * size, size);
	}
}

#endif
