/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's string table, from the writing side. */
#ifndef RECORD_STRINGS_H
#define RECORD_STRINGS_H

#include <stdint.h>

struct arena;

/* bytes; longer names are cut */
#define STRING_MAX_BYTES 1023u

/*
 * Copies |text| into the table and returns its id; STRING_ID_LOST when the table is full, or there
 * is no memory. The text is complete before the id is returned. Threads: any, also in a signal
 * handler.
 */
uint32_t strings_append(struct arena *arena, const char *text);

/*
 * Copies |text|, which names a call site or a key, into the table, and keeps its id in |kept| for
 * the next time. Returns the id.
 */
uint32_t site_register(uint32_t *kept, const char *text);

#endif
