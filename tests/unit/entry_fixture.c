/* SPDX-License-Identifier: Apache-2.0 */
/* Entries with recognisable content; see entry_fixture.h. */
#include "tests/unit/entry_fixture.h"

#include "lib/record/emit.h"

/* No two slots are the same. */
static struct slot make_slot(uint64_t ordinal, uint32_t i)
{
	uint64_t word = ordinal * 2654435761u + i;

	return (struct slot){{word, ~word}};
}

static struct slot make_record(uint64_t ordinal, uint32_t n_extra)
{
	return (struct slot){{record_word0(ordinal, RECORD_INSTANT, 0, n_extra),
		record_word1(ordinal & RECORD_DURATION_MASK, 1)}};
}

static bool is_same(const struct slot *a, struct slot b)
{
	return a->word[0] == b.word[0] && a->word[1] == b.word[1];
}

void entry_enter(uint32_t word)
{
	if (ring_begin(word))
		ring_end();
}

bool entry_write(uint32_t word, uint64_t ordinal, uint32_t n_extra)
{
	struct slot slots[RECORD_MAX_EXTRA];
	struct ring *ring = ring_begin(word);
	struct slot record = make_record(ordinal, n_extra);
	uint64_t head;
	bool is_written;

	if (!ring)
		return false;
	for (uint32_t i = 0; i < n_extra; i++)
		slots[i] = make_slot(ordinal, i);
	head = ring_get_head(ring);
	ring_emit(ring, thread_self.word, record.word[0], record.word[1], slots, n_extra);
	is_written = ring_get_head(ring) != head;
	ring_end();
	return is_written;
}

uint64_t entry_get_ordinal(const struct slot *slot)
{
	return slot->word[1] & RECORD_DURATION_MASK;
}

static bool is_entry(const struct slot *slots, size_t n_slots, uint64_t ordinal)
{
	uint32_t n_extra = record_n_extra(slots->word[0]);

	if (n_extra >= n_slots || !is_same(slots, make_record(ordinal, n_extra)))
		return false;
	for (uint32_t i = 0; i < n_extra; i++)
		if (!is_same(&slots[1 + i], make_slot(ordinal, i)))
			return false;
	return true;
}

int64_t entry_count(const struct slot *slots, size_t n_slots, uint64_t ordinal)
{
	int64_t n = 0;

	for (size_t at = 0; at < n_slots; at += 1 + record_n_extra(slots[at].word[0]), n++)
		if (!is_entry(slots + at, n_slots - at, ordinal + (uint64_t)n))
			return -1;
	return n;
}
