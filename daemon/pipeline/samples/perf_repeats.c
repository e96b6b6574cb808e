/* SPDX-License-Identifier: Apache-2.0 */
/* Records of doubled events; see perf_repeats.h. */
#include "daemon/pipeline/samples/perf_repeats.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/grow.h"
#include "daemon/pipeline/samples/perf_record.h"

/* More threads and processors than this are forgotten, and chosen anew. */
#define MAX_CHOSEN (1u << 16)

struct perf_chosen {
	pid_t tid;
	uint32_t cpu;
	uint64_t id; /* of the event; 0: none yet */
};

void perf_repeats_deinit(struct perf_repeats *t)
{
	hash_table_deinit(&t->slots);
	free(t->chosen);
	*t = (struct perf_repeats){.chosen = NULL};
}

static uint32_t chosen_hash(pid_t tid, uint32_t cpu)
{
	return hash_word(hash_seed(), (uint64_t)(uint32_t)tid << 32 | cpu);
}

/* Returns the slot of a thread and processor, or an empty one. There must be slots. */
static struct hash_slot *repeats_find(
	const struct perf_repeats *t, pid_t tid, uint32_t cpu, uint32_t hash)
{
	struct hash_slot *slot = hash_table_first(&t->slots, hash);

	while (slot->number && !(slot->hash == hash && t->chosen[slot->number - 1].tid == tid &&
				       t->chosen[slot->number - 1].cpu == cpu))
		slot = hash_table_next(&t->slots, slot);
	return slot;
}

/* Returns the entry of a thread and processor, perhaps a new one; NULL: there is no memory. */
static struct perf_chosen *repeats_get(struct perf_repeats *t, pid_t tid, uint32_t cpu)
{
	uint32_t hash = chosen_hash(tid, cpu);
	struct hash_slot *slot;

	if (hash_table_make_room(&t->slots) || grow(&t->chosen, &t->n_allocated, t->slots.n + 1))
		return NULL;
	slot = repeats_find(t, tid, cpu, hash);
	if (!slot->number && t->slots.n >= MAX_CHOSEN) {
		hash_table_clear(&t->slots);
		slot = hash_table_first(&t->slots, hash);
	}
	if (!slot->number) {
		t->chosen[t->slots.n] = (struct perf_chosen){tid, cpu, 0};
		hash_table_add(&t->slots, slot, hash);
	}
	return &t->chosen[slot->number - 1];
}

static void repeats_forget(struct perf_repeats *t, pid_t tid)
{
	for (uint32_t cpu = 0; t->slots.n && cpu < t->n_cpus; cpu++) {
		struct hash_slot *slot = repeats_find(t, tid, cpu, chosen_hash(tid, cpu));

		if (slot->number)
			t->chosen[slot->number - 1].id = 0;
	}
}

bool perf_repeats_has(struct perf_repeats *t, const struct perf_record *record)
{
	struct perf_chosen *chosen;

	if (record->kind == PERF_KIND_FORK)
		repeats_forget(t, record->task.tid);
	chosen = record->cpu < t->n_cpus ? repeats_get(t, record->tid, record->cpu) : NULL;
	if (!chosen)
		return false;
	if (!chosen->id)
		chosen->id = record->id;
	return chosen->id != record->id;
}
