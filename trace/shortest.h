/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats a number as the shortest text that reads back as the same number: 0.1, not
 * 0.10000000000000001.
 */
#ifndef TRACE_SHORTEST_H
#define TRACE_SHORTEST_H

#define SHORTEST_BYTES 32

/*
 * Writes |value|, which must be finite, like %.15g, or with as many more digits as it needs.
 * Returns |text|.
 */
const char *shortest_format(double value, char text[SHORTEST_BYTES]);

#endif
