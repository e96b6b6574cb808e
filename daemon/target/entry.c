/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes entries; see entry.h and lib/wire/record.h. */
#include "daemon/target/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *slot_text(const struct slot *slot, uint32_t n_left, uint32_t *n_out)
{
	uint32_t n = (uint32_t)(slot->word[0] >> 32);
	uint32_t fits = 8u + (n_left - 1u) * SLOT_BYTES;

	*n_out = n < fits ? n : fits;
	return (const char *)&slot->word[1];
}

uint32_t slot_span(const struct slot *slot, uint32_t n_left)
{
	unsigned type = slot_type(slot->word[0]);
	uint32_t n;

	if (type == SLOT_NONE || type >= SLOT_TYPES)
		return 0;
	if (!slot_is_text(type))
		return 1;
	slot_text(slot, n_left, &n);
	n = slot_count_for_text(n);
	return n <= n_left ? n : n_left;
}

static uint64_t entry_long_duration(const struct entry *e)
{
	for (uint32_t i = 0; i < e->n_slots; i++)
		if (slot_type(e->slots[i].word[0]) == SLOT_DURATION && i + 1 == e->n_slots)
			return e->slots[i].word[1];
	return RECORD_DURATION_MASK;
}

bool entry_read(struct entry *e, const struct slot *slot)
{
	e->start = 0;
	e->kind = record_kind(slot->word[0]);
	e->depth = record_depth(slot->word[0]);
	e->n_slots = record_n_extra(slot->word[0]);
	e->slots = slot + 1;
	e->string_id = (uint32_t)(slot->word[1] >> RECORD_DURATION_BITS);
	e->duration = slot->word[1] & RECORD_DURATION_MASK;
	e->is_unfinished = false;
	if (e->duration == RECORD_DURATION_MASK)
		e->duration = entry_long_duration(e);
	return e->kind != RECORD_NONE && e->kind < RECORD_KINDS && e->string_id;
}

bool entry_decode(struct entry *e, const struct slot *slot, const struct era *era)
{
	bool is_valid = entry_read(e, slot);
	uint64_t end = era_date(era, slot->word[0] + e->duration);

	e->start = end - e->duration;
	return is_valid && end <= era->before_ticks && e->duration <= end;
}

const struct slot *entry_number(const struct entry *e)
{
	uint32_t at = 0;

	if (e->n_slots && slot_type(e->slots[0].word[0]) == SLOT_NAME)
		at = slot_span(&e->slots[0], e->n_slots);
	return at < e->n_slots ? &e->slots[at] : NULL;
}

bool entry_read_number(const struct entry *e, double *out)
{
	const struct slot *slot = entry_number(e);

	switch (slot ? slot_type(slot->word[0]) : SLOT_NONE) {
	case SLOT_I64:
		*out = (double)(int64_t)slot->word[1];
		return true;
	case SLOT_U64:
		*out = (double)slot->word[1];
		return true;
	case SLOT_F64:
		memcpy(out, &slot->word[1], sizeof *out);
		return true;
	default:
		return false;
	}
}
