/* SPDX-License-Identifier: Apache-2.0 */
/* The stats of events: arguments, and those that viewers know by name. */
#ifndef DAEMON_STATS_H
#define DAEMON_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct async_span;
struct entry;
struct plane;
struct texts;
struct trace_stat;

/* What viewers know by name; see stats.c for the texts. */
enum stat_key {
	STAT_KEY_ROOT,
	STAT_KEY_STEP_NUM,
	STAT_KEY_UNFINISHED,
	STAT_KEY_VALUE,
	STAT_KEY_ID,
	STAT_KEY_ASYNC,
	STAT_KEY_STARTED_BEFORE,
	STAT_KEY_PRODUCER_TYPE,
	STAT_KEY_PRODUCER,
	STAT_KEY_CONSUMER_TYPE,
	STAT_KEY_CONSUMER,
	STAT_KEY_CORRELATION,
	STAT_KEY_DEVICE,
	STAT_KEY_CONTEXT,
	STAT_KEY_GRAPH,
	N_STAT_KEYS
};

struct stats {
	struct plane *plane;
	struct texts *texts;
	uint32_t names[N_STAT_KEYS]; /* index + 1 into the plane's stat_names; 0: not used yet */
	uint32_t context; /* that a device's library was called in last */
	uint32_t context_name; /* index + 1 of its text, as above; 0: none was */
	bool keeps_texts; /* those at hand outlive their event */
	pid_t pid; /* whose calls of devices' libraries they are */
	uint64_t n_invalid; /* arguments that made no sense */
	int error; /* -ENOMEM, and stays so */
};

/* |plane| and |texts| are borrowed. */
void stats_init(struct stats *s, struct plane *plane, struct texts *texts);

/*
 * Adds the stats of |e|, whose name is |name| (an index into the plane's event_names), to the plane.
 * Returns what goes into event.stats.
 */
uint32_t stats_add(struct stats *s, const struct entry *e, uint32_t name);
/* The arguments of |e| alone, at most RECORD_MAX_EXTRA, which are not added to the plane. Returns how many. */
uint32_t stats_get_args(struct stats *s, const struct entry *e, struct trace_stat *args);
/* As stats_add() for an async span. */
uint32_t stats_add_async(struct stats *s, const struct async_span *span);

#endif
