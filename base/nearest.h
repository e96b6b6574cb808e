/* SPDX-License-Identifier: Apache-2.0 */
/* How alike two words are spelled, for "did you mean". */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/*
 * The number of letters to insert, delete, replace or swap with a neighbour to get from |a| to |b|.
 * '-' and '_' count as the same. Only the first 63 letters of each are looked at.
 */
unsigned int nearest_distance(const char *a, const char *b);

#endif
