/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers make the flight recorder write a run by itself (base/trigger.h). They fire for spans
 * that took too long, for steps that took much longer than the program's usual step, and for
 * counters beyond a bound. At most one run is written in an interval. Triggers that fire without a
 * run are counted; the reason of the next run contains the counts. If there is none, the warning of
 * the recorder's last snapshot has their sum. trigger_watch.h supplies the entries.
 *
 * Threads: only the worker calls these functions.
 */
#ifndef DAEMON_TRIGGERS_H
#define DAEMON_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trigger.h"
#include "lib/wire/record.h"

struct diag;
struct entry;
struct profile_options;

/* The usual duration of a step: the median of the last ones. */

/*
 * The number of steps that are remembered: when the steps of a program become longer, the median
 * follows in time.
 */
#define STEP_MEDIAN_MAX 1023u

/* All zero: no step was seen. */
struct step_median {
	uint64_t last[STEP_MEDIAN_MAX]; /* a ring */
	uint64_t sorted[STEP_MEDIAN_MAX];
	uint32_t n;
	uint32_t next; /* index into |last| */
};

void step_median_add(struct step_median *m, uint64_t duration);
/* The median of the remembered steps; of two middle ones it is the lower. 0: no steps were seen. */
uint64_t step_median_get(const struct step_median *m);

/* No step counts as unusual before this many steps were seen. */
#define TRIGGERS_MIN_STEPS 8u

#define TRIGGERS_REASON_BYTES 256u

/* All zero, it has no triggers. */
struct triggers {
	struct trigger_list list;
	int64_t interval_ns;
	/* The next five are set by triggers_set_clock(). */
	int64_t now_ns;
	double ns_per_tick;
	uint64_t bound_ticks[TRIGGERS_MAX]; /* by trigger; only spans have one */
	uint64_t min_span_ticks; /* the least of them; UINT64_MAX: there is none */
	bool has_counters;
	struct step_median steps; /* in ns */
	char reason[TRIGGERS_REASON_BYTES]; /* of the run that is to be written; "": no run is */
	int64_t quiet_until_ns; /* CLOCK_MONOTONIC */
	uint64_t n_suppressed[TRIGGERS_MAX + 1]; /* since the last reason; steps are last */
	/* trigger_watch.h copies the entries of a ring to here. */
	struct slot *slots;
	size_t n_slots_allocated;
};

/* Sets the triggers that |o| has. 0, -EINVAL with |d|, or -ENOMEM; then none are set. */
int triggers_init(struct triggers *t, const struct profile_options *o, struct diag *d);
void triggers_deinit(struct triggers *t);
bool triggers_are_set(const struct triggers *t);

/* Sets the time |now_ns| (CLOCK_MONOTONIC) and the length of a tick for the entries that follow. */
void triggers_set_clock(struct triggers *t, int64_t now_ns, double ns_per_tick);

/* Returns a bit for each trigger of the list that is about |name|. */
uint32_t triggers_find(const struct triggers *t, const char *name, size_t n);

/* True when the entry whose first slot has these words may concern a trigger. */
static inline bool triggers_want(const struct triggers *t, const uint64_t word[2])
{
	unsigned kind = record_kind(word[0]);

	if (kind == RECORD_SPAN)
		return (word[1] & RECORD_DURATION_MASK) > t->min_span_ticks;
	if (kind == RECORD_STEP)
		return t->list.step_factor != 0 ||
		       (word[1] & RECORD_DURATION_MASK) > t->min_span_ticks;
	return kind == RECORD_COUNTER && t->has_counters;
}

/*
 * Judges an entry for which triggers_want() is true by the triggers |named|, which are about its
 * name, and, if it is a step, by the trigger of steps.
 */
void triggers_judge(struct triggers *t, const struct entry *e, uint32_t named);

/*
 * Writes a sentence about triggers for which no run was or will be written, or "". Only for the
 * recorder's end: before it, the next reason contains these triggers.
 */
void triggers_describe_unwritten(const struct triggers *t, char *text, size_t n);

/* Takes the reason, for which a run is being written. No run is written in the next interval. */
void triggers_take(struct triggers *t, char *reason, size_t n);

#endif
