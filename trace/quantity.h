/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people. */
#ifndef TRACE_QUANTITY_H
#define TRACE_QUANTITY_H

#include <stdint.h>

struct quantity {
	char text[40];
};

struct quantity quantity_count(uint64_t n); /* "1,204,331" */
struct quantity quantity_bytes(uint64_t n); /* "812 B", "12.4 MB": powers of 1000 */

#endif
