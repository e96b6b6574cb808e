/* SPDX-License-Identifier: Apache-2.0 */
/* The stats of events: arguments, and stats that viewers know by name. */
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

/* Stats that viewers know by name; stats.c has the texts. */
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
	uint32_t context; /* the device library's context of the last call */
	uint32_t context_name; /* index + 1 of its text in stat_names; 0: there was no call */
	bool keeps_texts; /* set while stats are made whose texts must outlive the event */
	pid_t pid; /* of the process that calls devices' libraries */
	uint64_t n_invalid; /* invalid arguments */
	int error; /* -ENOMEM, and stays so */
};

/* |plane| and |texts| are borrowed. */
void stats_init(struct stats *s, struct plane *plane, struct texts *texts);

/*
 * Adds the stats of |e|, whose name is |name| (an index into the plane's event_names), to the
 * plane. Returns what goes into event.stats.
 */
uint32_t stats_add(struct stats *s, const struct entry *e, uint32_t name);
/*
 * Copies only the arguments of |e|, at most RECORD_MAX_EXTRA, to |args|, without adding them to the
 * plane. Returns their number.
 */
uint32_t stats_get_args(struct stats *s, const struct entry *e, struct trace_stat *args);
/* Works as stats_add(), for an async span. */
uint32_t stats_add_async(struct stats *s, const struct async_span *span);

#endif
