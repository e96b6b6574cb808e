/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the shortest text that reads as the same number: 0.1, not 0.10000000000000001. */
#ifndef TRACE_SHORTEST_H
#define TRACE_SHORTEST_H

#define SHORTEST_BYTES 32

/* |value|, which is finite, as %.15g has it, or with as many digits more as it needs; returns |text|. */
const char *shortest_format(double value, char text[SHORTEST_BYTES]);

#endif
