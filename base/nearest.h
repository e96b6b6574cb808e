/* SPDX-License-Identifier: Apache-2.0 */
/* The similarity of two words' spelling, for "did you mean". */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/*
 * Returns the number of letters to insert, delete, replace or swap with a neighbour to get from |a|
 * to |b|. '-' and '_' count as the same. Only the first 63 letters of each word count.
 */
unsigned int nearest_distance(const char *a, const char *b);

#endif
