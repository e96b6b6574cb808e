/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow. */
#ifndef BASE_GROW_H
#define BASE_GROW_H

#include <stddef.h>

/*
 * Makes room for |n_needed| elements in the malloc'ed array at *|array| (NULL: none yet), which has
 * room for *|n_allocated|; both are pointers: `grow(&list->v, &list->n_allocated, list->n + 1)`.
 * The room at least doubles, so that adding n elements one by one takes linear time. New room is
 * not zeroed.
 * Errors: 0 or -ENOMEM, also if the size does not fit into a size_t; then nothing has changed.
 */
#define grow(array, n_allocated, n_needed) \
	grow_array((array), (n_allocated), (n_needed), sizeof **(array))

/* The function behind grow(): |array| is the address of the pointer to the first element. */
int grow_slowly(void *array, size_t *n_allocated, size_t n_needed, size_t element_bytes);

static inline int grow_array(
	void *array, size_t *n_allocated, size_t n_needed, size_t element_bytes)
{
	return n_needed <= *n_allocated ? 0
					: grow_slowly(array, n_allocated, n_needed, element_bytes);
}

#endif
