/* SPDX-License-Identifier: Apache-2.0 */
/* The state that one capture's collectors share, and the functions that they can call. */
#ifndef COLLECT_RUN_H
#define COLLECT_RUN_H

#include <proftap/collector.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "lib/collect/outlet.h"
#include "lib/collect/recall.h"
#include "lib/wire/arena.h"

struct arena_collect;
struct plugin;

/* The collectors' warnings for the trace, in the arena, where the server finds them. */

/* The warnings of one capture. All fields except |to| begin as zero. */
struct collect_warnings {
	struct arena_collect *to;
	uint32_t end; /* bytes used, behind the last warning that fitted */
	unsigned n_left_out;
};

/*
 * Adds "|who|: |sentence|", or the sentence alone (|who| NULL), unless it is empty or was added
 * before. Warnings without room are counted in a last one. Runs on the collectors' thread.
 */
void collect_warn(struct collect_warnings *s, const char *who, const char *sentence);

/*
 * The time from the requested end until a collector should have returned; the server itself waits
 * for two seconds.
 */
#define COLLECT_STOP_NS (1500 * NS_PER_MS)

struct collect_run {
	struct arena *arena;
	struct outlet outlet;
	struct collect_warnings warnings;
	const struct plugin *plugin; /* the plug-in whose step runs; NULL: none */
	unsigned collector; /* its index */
	struct recall *recall;
	uint32_t handed_on; /* the last |hand_on| of the arena that was answered */
	uint32_t lossy; /* bit N: collector N has emitted a record of a loss since its start */
	/* The recording collector that allows no other exclusive one beside it; NULL: none. */
	const struct plugin *exclusive;
	char options[sizeof((struct arena_collect *)0)->options +
		     1]; /* Lines, each terminated; an empty one ends them. */
};

static inline bool collect_run_is_over(const struct collect_run *run)
{
	uint32_t state = atomic_load(&run->arena->collect.state);

	return state != ARENA_COLLECT_TAKEN && state != ARENA_COLLECT_RUNNING;
}

/* The functions that libproftap offers to plug-ins. */
extern const struct ptap_collector_services collector_services;

/*
 * From here on the services work for |run|, which must be filled; NULL: for no run. Only one run
 * exists at a time. Called on the collectors' thread.
 */
void services_serve(struct collect_run *run);

#endif
