/* SPDX-License-Identifier: Apache-2.0 */
/* What one capture's collectors share: who asks for them, where their records and sentences go. */
#ifndef COLLECT_RUN_H
#define COLLECT_RUN_H

#include "base/clock.h"
#include "lib/collect/outlet.h"
#include "lib/collect/recall.h"
#include "lib/collect/said.h"
#include "lib/wire/arena.h"

/* From the end that is asked for until a collector should be back; the server itself waits for two seconds. */
#define COLLECT_STOP_NS (1500 * NS_PER_MS)

struct plugin;

struct collect_run {
	struct arena *arena;
	struct outlet outlet;
	struct said said;
	const struct plugin *plugin; /* whose step it is; NULL: nobody's */
	unsigned collector; /* its number */
	struct recall *recall;
	uint32_t handed_on; /* the arena's |hand_on| that was heeded */
	uint64_t n_losses; /* records of losses that this one has emitted */
	const struct plugin
		*exclusive; /* the one that records and bears no other of its kind beside it */
	char options[sizeof((struct arena_collect *)0)->options +
		     1]; /* lines, each terminated; an empty one ends them */
};

static inline int collect_run_is_over(const struct collect_run *run)
{
	uint32_t state = atomic_load(&run->arena->collect.state);

	return state != ARENA_COLLECT_TAKEN && state != ARENA_COLLECT_RUNNING;
}

#endif
