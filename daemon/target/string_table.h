/* SPDX-License-Identifier: Apache-2.0 */
/* The arena's string table. Ids and lengths are the target's: nothing is believed. */
#ifndef DAEMON_STRING_TABLE_H
#define DAEMON_STRING_TABLE_H

#include <stdint.h>

struct arena;

/* Ids are below it, now; there may be more later. */
uint32_t string_table_count_ids(struct arena *arena);
/*
 * The text of |id|, not terminated, or NULL: there is none. |n_ids| is as counted before. The arena may change under us: the
 * length is a copy.
 */
const char *string_table_find(struct arena *arena, uint32_t n_ids, uint32_t id, uint32_t *n_out);

#endif
