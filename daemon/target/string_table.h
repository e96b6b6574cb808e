/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the arena's string table. The target writes ids and lengths, so they are not trusted. */
#ifndef DAEMON_STRING_TABLE_H
#define DAEMON_STRING_TABLE_H

#include <stdint.h>

struct arena;

/* Returns the current bound of ids; there may be more later. */
uint32_t string_table_count_ids(struct arena *arena);
/*
 * Returns the text of |id|, not terminated, or NULL: there is none. |n_ids| is an earlier count.
 * The arena may change meanwhile: the length is a copy.
 */
const char *string_table_find(struct arena *arena, uint32_t n_ids, uint32_t id, uint32_t *n_out);

#endif
