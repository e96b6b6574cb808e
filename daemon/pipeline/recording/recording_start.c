/* SPDX-License-Identifier: Apache-2.0 */
/* From armed to recording; see recording_start.h. */
#include "daemon/pipeline/recording/recording_start.h"

#include <errno.h>

#include "base/clock.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/family.h"
#include "daemon/target/target.h"
#include "lib/wire/record.h"

static void begin_over_recorder(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->target->is_told_to_record)
			source_begin_over(r->sources[i], &r->error);
}

/*
 * The time before which no record of this recording has its end. With a flight recorder a thread
 * may be in the middle of writing a record, whose end lies long ago if the thread was stopped
 * meanwhile. Collectors write only when they are asked, which is after the recording was armed.
 */
static uint64_t find_earliest(const struct recording *r)
{
	uint64_t reach = r->family->recorder_level ? RECORD_START_MASK / 4 : 0;

	return r->armed.ticks > reach ? r->armed.ticks - reach : 0;
}

/*
 * The time since which |t| records. It comes from the program, which may report a wrong one, so it
 * must lie between command and answer.
 */
static int64_t find_since(const struct recording *r, const struct target *t, int64_t now_ns)
{
	int64_t since_ns = atomic_load(&t->arena->recording_since_ns) - t->clock_ahead_ns;

	return since_ns > r->begun.monotonic_ns && since_ns < now_ns ? since_ns : now_ns;
}

static void note_able(struct recording *r)
{
	int64_t now_ns = monotonic_ns();

	for (size_t i = 0; i < r->n_sources; i++) {
		struct source *s = r->sources[i];
		int64_t since_ns = find_since(r, s->target, now_ns);

		if (s->state == SOURCE_RECORDING && since_ns > r->able_ns)
			r->able_ns = since_ns;
	}
}

static int start_threads(struct recording *r, struct diag *d)
{
	int error = orders_begin(r, ARENA_OP_START, d);

	for (size_t i = 0; i < r->n_sources && !error; i++)
		if (r->sources[i]->state == SOURCE_STARTING)
			source_begin(r->sources[i]);
	note_able(r);
	return error;
}

static void begin_without_threads(struct recording *r)
{
	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->state == SOURCE_STARTING)
			source_begin_without_threads(r->sources[i]);
}

/*
 * Lets a program that waits to be recorded (PROFTAP_WAIT) go on, although none of its threads is
 * told to record.
 */
static void tell_begun(const struct recording *r)
{
	const struct target *t = r->family->main;

	atomic_store(&t->arena->recording_since_ns, r->begun.monotonic_ns + t->clock_ahead_ns);
}

int recording_begin(struct recording *r, unsigned level, struct diag *d)
{
	int error = 0;

	r->level = level;
	if (level)
		begin_over_recorder(r);
	r->begun = clock_pair_read(r->uses_ticks);
	r->able_ns = r->begun.monotonic_ns;
	r->earliest_ticks = find_earliest(r);
	era_clock_begin(&r->budget.era_clock, r->earliest_ticks, r->begun.ticks);
	if (level)
		error = start_threads(r, d);
	else
		tell_begun(r);
	if (!level && r->collectors.options)
		begin_without_threads(r);
	if ((level || r->collectors.options) && !error)
		recording_meet(r);
	else
		family_meet(r->family);
	return error;
}

void recording_skip(struct recording *r, int64_t agreed_ns)
{
	for (size_t i = 0; i < r->n_sources; i++)
		if (r->sources[i]->state == SOURCE_RECORDING)
			drain_skip(&r->sources[i]->drain, agreed_ns, &r->error);
}

static struct clock_pair find_start_pair(const struct recording *r, int64_t agreed_ns)
{
	struct clock_pair now = clock_pair_read(r->uses_ticks);

	if (r->armed.monotonic_ns >= agreed_ns)
		return r->begun;
	return now.monotonic_ns > agreed_ns ? clock_pair_interpolate(r->armed, now, agreed_ns)
					    : now;
}

int recording_start(struct recording *r, int64_t agreed_ns)
{
	r->start = find_start_pair(r, agreed_ns);
	r->start_unix_ns = r->start.monotonic_ns + r->unix_offset_ns;
	r->last_pair_ns = r->start.monotonic_ns;
	if (timeline_add(&r->timeline, r->start))
		return -ENOMEM;
	recording_usage_begin(r, 0);
	return 0;
}

int64_t recording_find_missing_ns(const struct recording *r)
{
	return r->able_ns > r->start.monotonic_ns ? r->able_ns - r->start.monotonic_ns : 0;
}

int64_t recording_find_late_ns(const struct recording *r)
{
	return r->able_ns > r->asked_ns ? r->able_ns - r->asked_ns : 0;
}
