/* SPDX-License-Identifier: Apache-2.0 */
/* A plane in the making; see assembly.h. */
#include "daemon/pipeline/assembly/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/grow.h"
#include "daemon/pipeline/assembly/entries.h"
#include "daemon/pipeline/assembly/part_writer.h"
#include "daemon/pipeline/assembly/plain.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/target/entry.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "trace/model/space.h"

/* Spooled at a time: slots, events, these in order, and their bytes stay in a core's own cache, 1.3 MB. */
#define PART_SLOTS (16u << 10)

static int init(struct assembly *as, struct target *target)
{
	as->plane = plane_new(0, "");
	if (!as->plane || texts_init(&as->texts, target->arena, as->plane))
		return -ENOMEM;
	stats_init(&as->stats, as->plane, &as->texts);
	as->stats.pid = target->pid;
	xspace_events_init(&as->encoder, as->plane);
	xspace_events_init(&as->plain_encoder, NULL);
	return 0;
}

int assembly_new(
	struct target *target, uint64_t earliest_ticks, uint64_t start_ticks, struct assembly **out)
{
	struct assembly *as = calloc(1, sizeof *as);

	if (!as)
		return -ENOMEM;
	as->target = target;
	as->whole.after_ticks = earliest_ticks;
	as->whole.before_ticks = earliest_ticks + ERA_MAX_TICKS;
	as->era = &as->whole;
	as->start_ticks = start_ticks;
	as->end_ns = INT64_MAX;
	as->no_limit.max_bytes = UINT64_MAX;
	as->keep = &as->no_limit;
	as->calls = &as->own_calls;
	devices_init(&as->devices, target->arena);
	devices_set_keep(&as->devices, &as->no_limit);
	if (init(as, target)) {
		assembly_free(as);
		return -ENOMEM;
	}
	*out = as;
	return 0;
}

void assembly_set_spool(struct assembly *as, struct spool *spool, struct memory_budget *keep)
{
	as->spool = spool;
	as->keep = keep;
	as->texts.keep = keep;
	devices_set_keep(&as->devices, keep);
}

void assembly_set_writer(struct assembly *as, struct part_writer *writer)
{
	as->writer = writer;
}

struct assembly *assembly_free(struct assembly *as)
{
	if (as) {
		xspace_events_deinit(&as->encoder);
		events_deinit(&as->events);
		free(as->ordered.events);
		asyncs_deinit(&as->asyncs);
		counters_deinit(&as->counters);
		launch_stack_deinit(&as->own_calls);
		devices_deinit(&as->devices);
		texts_deinit(&as->texts);
		plane_free(as->plane);
	}
	free(as);
	return NULL;
}

/* --- slots --------------------------------------------------------------------------------- */

/* It has times of its own, whenever it was written. */
static void add_device(struct assembly *as, struct entry *e, const struct slot *slots)
{
	if (entry_read(e, slots))
		as->error = devices_add(&as->devices, e);
	else
		as->n_invalid++;
}

/* The entry at |slots|, of which |n_slots| are left. Returns how many it takes. */
static size_t add_one(struct assembly *as, const struct slot *slots, size_t n_slots)
{
	struct entry e;

	/* A cut at the end of memory may leave an entry without all of its slots. */
	if (record_n_extra(slots[0].word[0]) > n_slots - 1)
		return n_slots;
	if (record_kind(slots[0].word[0]) == RECORD_DEVICE)
		add_device(as, &e, slots);
	else if (!entry_decode(&e, slots, as->era))
		as->n_invalid++;
	else if (e.start >= as->start_ticks)
		entries_add(as, &e);
	return 1 + e.n_slots;
}

void assembly_set_eras(struct assembly *as, const struct era *eras, size_t n_eras)
{
	as->eras = eras;
	as->n_eras = n_eras;
}

/* Sets that of the slot at |at|, and returns where it ends; |end| at most. */
static size_t find_era(struct assembly *as, size_t at, size_t end)
{
	while (as->n_eras && as->eras->end <= at)
		assembly_set_eras(as, as->eras + 1, as->n_eras - 1);
	as->era = as->n_eras ? as->eras : &as->whole;
	return as->n_eras && as->eras->end < end ? as->eras->end : end;
}

/* Those from |at| on, of |n_slots|, were written at no time that is known. Returns where they end. */
static size_t pass_undated(
	struct assembly *as, const struct slot *slots, size_t n_slots, size_t at, size_t end)
{
	while (at < end && !as->error) {
		if (record_kind(slots[at].word[0]) == RECORD_DEVICE) {
			at += add_one(as, slots + at, n_slots - at);
		} else {
			as->n_undated++;
			at += 1 + record_n_extra(slots[at].word[0]);
		}
	}
	return at;
}

/* Entries from |at| on, of at least |n_wanted| slots if there are so many. Returns where they end. */
static size_t add_some(
	struct assembly *as, const struct slot *slots, size_t n_slots, size_t at, size_t n_wanted)
{
	size_t end = n_slots - at < n_wanted ? n_slots : at + n_wanted;

	while (at < end && !as->error) {
		size_t era_end = find_era(as, at, end);
		size_t n_plain;

		if (!era_is_known(as->era)) {
			at = pass_undated(as, slots, n_slots, at, era_end);
			continue;
		}
		n_plain = plain_take(as, slots + at, era_end - at);
		if (as->error)
			break;
		at += n_plain ? n_plain : add_one(as, slots + at, n_slots - at);
		if (!as->error)
			as->error = cancel_look(as->cancel);
	}
	return at;
}

int assembly_add(struct assembly *as, const struct slot *slots, size_t n_slots)
{
	as->error = texts_update(&as->texts);
	as->calls = &as->own_calls;
	as->asyncs.thread = ++as->n_threads;
	add_some(as, slots, n_slots, 0, n_slots);
	assembly_set_eras(as, NULL, 0);
	return as->error;
}

/* Its thread, or its process, may have ended before. */
static uint64_t find_cut(
	const struct thread_log *log, const struct open_span *open, uint64_t cut_ticks)
{
	if (log->gone_ticks && log->gone_ticks < cut_ticks)
		cut_ticks = log->gone_ticks;
	return cut_ticks > open->start ? cut_ticks : open->start;
}

int assembly_add_open(
	struct assembly *as, const struct thread_log *log, uint64_t stop_ticks, uint64_t cut_ticks)
{
	for (uint32_t i = log->n_open; i-- > 0 && !as->error;) {
		const struct open_span *open = &log->open[i];
		struct entry e = {
			.start = open->start,
			.depth = open->depth,
			.kind = open->kind & ~RING_OPEN_HAS_FRAME,
			.string_id = open->string_id,
			.slots = open->slots,
			.n_slots = open->n_slots,
			.is_unfinished = true,
		};

		if (open->start < as->start_ticks || open->start > stop_ticks)
			continue;
		if (e.kind != RECORD_SPAN && e.kind != RECORD_STEP && e.kind != RECORD_LAUNCH) {
			as->n_invalid++;
			continue;
		}
		e.duration = find_cut(log, open, cut_ticks) - open->start;
		entries_add(as, &e);
	}
	launches_end_thread(&as->devices.launches, as->calls);
	return as->error;
}

/* --- to the spool -------------------------------------------------------------------------- */

/* What has stats is encoded before the plane gets more of them, and names. */
static bool is_plain(const struct assembly *as)
{
	return as->plane->n_stats == as->n_line_stats;
}

static int write_events(struct assembly *as, struct track *track)
{
	struct xspace_events *encoder = is_plain(as) ? &as->plain_encoder : &as->encoder;
	struct line *line = &as->ordered;
	int r = 0;

	if (grow(&line->events, &line->n_allocated, as->events.n))
		return -ENOMEM;
	r = events_order_by_start(&as->events, line, as->cancel);
	if (!r)
		r = track_append(track, encoder, line->events, line->n_events, as->spool, as->keep);
	as->events.n = 0;
	/* Nobody refers to them any more. */
	as->plane->n_stats = as->n_line_stats;
	as->plane->n_own_bytes = as->n_line_text_bytes;
	return r;
}

int assembly_flush(struct assembly *as, struct track *track)
{
	int r;

	if (as->writer && is_plain(as))
		return part_writer_give(as->writer, track, &as->events);
	r = as->writer ? part_writer_settle(as->writer) : 0;
	return r ? r : write_events(as, track);
}

int assembly_spool(
	struct assembly *as, struct track *track, const struct slot *slots, size_t n_slots)
{
	size_t at = 0;

	as->error = texts_update(&as->texts);
	as->calls = &track->calls;
	if (!track->thread)
		track->thread = ++as->n_threads;
	as->asyncs.thread = track->thread;
	while (at < n_slots && !as->error) {
		at = add_some(as, slots, n_slots, at, PART_SLOTS);
		if (as->gives_slots)
			spool_reuse(as->spool, at * sizeof *slots);
		if (!as->error)
			as->error = assembly_flush(as, track);
	}
	assembly_set_eras(as, NULL, 0);
	return as->error;
}
