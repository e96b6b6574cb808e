/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries in the ring of the thread that writes them, whose content follows from their number. So a
 * test detects entries that are torn, invented, missing or out of order.
 */
#ifndef TESTS_UNIT_ENTRY_FIXTURE_H
#define TESTS_UNIT_ENTRY_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/record.h"

/* Makes the calling thread part of the recording |word|. */
void entry_enter(uint32_t word);
/*
 * Writes the entry |ordinal| with |n_extra| extra slots; both numbers determine its content.
 * Returns 0 if the ring was full.
 */
bool entry_write(uint32_t word, uint64_t ordinal, uint32_t n_extra);
/* The ordinal of the entry at |slot|, if one begins there. */
uint64_t entry_get_ordinal(const struct slot *slot);
/*
 * Returns the number of entries at |slots|, the first of which must be |ordinal|; -1: the slots are
 * not as they were written.
 */
int64_t entry_count(const struct slot *slots, size_t n_slots, uint64_t ordinal);

#endif
