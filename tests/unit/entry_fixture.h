/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries that say which they are, in the ring of the thread that writes them: one that is torn,
 * invented, missing or out of order is seen.
 */
#ifndef TESTS_UNIT_ENTRY_FIXTURE_H
#define TESTS_UNIT_ENTRY_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/wire/record.h"

/* Makes the calling thread part of the recording |word|. */
void entry_enter(uint32_t word);
/*
 * Writes the entry |ordinal| with |n_extra| slots, all of which follow from these two. 0 when the
 * ring was full.
 */
int entry_write(uint32_t word, uint64_t ordinal, uint32_t n_extra);
/* The ordinal of the entry at |slot|, if it is one. */
uint64_t entry_get_ordinal(const struct slot *slot);
/*
 * How many entries are at |slots|, of which the first is |ordinal|. -1: they are not what was
 * written.
 */
int64_t entry_count(const struct slot *slots, size_t n_slots, uint64_t ordinal);

#endif
