/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percentiles; see percentile.h. Hoare's selection in Wirth's form: of the two parts only the one
 * with the rank goes on. The pivot is drawn by lot, so that no order of the values is a slow one.
 */
#include "trace/percentile.h"

size_t percentile_rank(size_t n, unsigned int permille)
{
	/* Without n * permille, which may overflow. */
	return n / 1000 * permille + (n % 1000 * permille + 999) / 1000 - 1;
}

/* Marsaglia's xorshift64. */
static uint64_t draw(uint64_t *lot)
{
	*lot ^= *lot << 13;
	*lot ^= *lot >> 7;
	*lot ^= *lot << 17;
	return *lot;
}

int64_t percentile_select(int64_t *values, size_t n, unsigned int permille)
{
	ptrdiff_t rank = (ptrdiff_t)percentile_rank(n, permille);
	ptrdiff_t first = 0;
	ptrdiff_t last = (ptrdiff_t)n - 1;
	uint64_t lot = n;

	while (first < last) {
		int64_t pivot =
			values[first + (ptrdiff_t)(draw(&lot) % (uint64_t)(last - first + 1))];
		ptrdiff_t i = first;
		ptrdiff_t j = last;

		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				int64_t old = values[i];

				values[i++] = values[j];
				values[j--] = old;
			}
		}
		/* Up to j: at most the pivot; from i: at least; between them: the pivot, and done. */
		if (rank > j)
			first = i;
		if (rank < i)
			last = j;
	}
	return values[rank];
}
