/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance between short words; see nearest.h. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

#define MAX_LETTERS 63u

static char letter_fold(char c)
{
	return c == '-' ? '_' : c;
}

static unsigned int min_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool letters_are_swapped(const char *a, size_t i, const char *b, size_t j)
{
	return i > 1 && j > 1 && letter_fold(a[i - 1]) == letter_fold(b[j - 2]) &&
	       letter_fold(a[i - 2]) == letter_fold(b[j - 1]);
}

unsigned int nearest_distance(const char *a, const char *b)
{
	/* Rows i-2, i-1 and i of the usual table, reused in turn. */
	unsigned int rows[3][MAX_LETTERS + 1];
	size_t n_a = strnlen(a, MAX_LETTERS);
	size_t n_b = strnlen(b, MAX_LETTERS);

	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *above = rows[(i - 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= n_b; j++) {
			unsigned int cost = letter_fold(a[i - 1]) != letter_fold(b[j - 1]);

			row[j] = min_of(min_of(above[j], row[j - 1]) + 1, above[j - 1] + cost);
			if (letters_are_swapped(a, i, b, j))
				row[j] = min_of(row[j], rows[(i - 2) % 3][j - 2] + 1);
		}
	}
	return rows[n_a % 3][n_b];
}
