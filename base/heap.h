/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap in the caller's array of |n| items of |size| bytes each: the first item comes
 * before all others. The functions are inlined together with the caller's |is_before|.
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

/* Returns true if |a| must come before |b|. */
typedef bool heap_is_before(const void *a, const void *b);

/*
 * Moves the last item to its place. It is kept outside of the array meanwhile, so that each step
 * copies one item instead of swapping two.
 */
static inline __attribute__((always_inline)) void heap_sift_up(
	void *items, size_t n, size_t size, heap_is_before *is_before)
{
	_Alignas(max_align_t) char kept[HEAP_MAX_ITEM_BYTES];
	char *v = items;
	size_t i = n - 1;

	memcpy(kept, v + i * size, size);
	for (; i && is_before(kept, v + (i - 1) / 2 * size); i = (i - 1) / 2)
		memmove(v + i * size, v + (i - 1) / 2 * size, size);
	memcpy(v + i * size, kept, size);
}

/* Moves the first item to its place, in the same way. */
static inline __attribute__((always_inline)) void heap_sift_down(
	void *items, size_t n, size_t size, heap_is_before *is_before)
{
	_Alignas(max_align_t) char kept[HEAP_MAX_ITEM_BYTES];
	char *v = items;
	size_t i = 0;

	if (n == 0)
		return;
	memcpy(kept, v, size);
	for (size_t child = 1; child < n; i = child, child = 2 * i + 1) {
		if (child + 1 < n && is_before(v + (child + 1) * size, v + child * size))
			child++;
		if (!is_before(v + child * size, kept))
			break;
		memmove(v + i * size, v + child * size, size);
	}
	memcpy(v + i * size, kept, size);
}

#endif
