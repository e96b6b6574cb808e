/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow; see grow.h. */
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* It is a small number, because there are arrays of arrays, most of which stay short. */
#define FIRST_ELEMENTS 8

static size_t choose_size(size_t n_allocated, size_t n_needed)
{
	size_t n = n_allocated ? 2 * n_allocated : FIRST_ELEMENTS;

	/* |n| may have wrapped. */
	return n < n_needed ? n_needed : n;
}

int grow_slowly(void *array, size_t *n_allocated, size_t n_needed, size_t element_bytes)
{
	size_t n = choose_size(*n_allocated, n_needed);
	void *elements;

	/* Pointers of all types look the same here, but C forbids to read them as a void *. */
	memcpy(&elements, array, sizeof elements);
	elements = reallocarray(elements, n, element_bytes);
	if (!elements)
		return -ENOMEM;
	memcpy(array, &elements, sizeof elements);
	*n_allocated = n;
	return 0;
}
