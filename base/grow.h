/* SPDX-License-Identifier: Apache-2.0 */
/* Room in an array that grows. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>

/*
 * Makes room for |n_needed| elements in the malloc'ed array at *|array| (NULL: none yet), which has room for
 * *|n_allocated|, both pointers: `grow(&list->v, &list->n_allocated, list->n + 1)`. It grows at least twofold, so that
 * adding n elements one by one costs n. What is new is not zeroed.
 * Errors: 0 or -ENOMEM, also where the size does not fit into a size_t; then nothing has changed.
 */
#define grow(array, n_allocated, n_needed) \
	grow_array((array), (n_allocated), (n_needed), sizeof **(array))

/* What is behind grow(): |array| is the address of the pointer to the first element. */
int grow_slowly(void *array, size_t *n_allocated, size_t n_needed, size_t element_bytes);

static inline int grow_array(
	void *array, size_t *n_allocated, size_t n_needed, size_t element_bytes)
{
	return n_needed <= *n_allocated ? 0
					: grow_slowly(array, n_allocated, n_needed, element_bytes);
}

#endif
