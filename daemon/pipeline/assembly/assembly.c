/* SPDX-License-Identifier: Apache-2.0 */
/* Assemblies; see assembly.h. */
#include "daemon/pipeline/assembly/assembly.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/grow.h"
#include "daemon/pipeline/assembly/part_writer.h"
#include "daemon/pipeline/assembly/plain.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/devices/launches.h"
#include "daemon/pipeline/drain/thread_log.h"
#include "daemon/target/entry.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "trace/model/space.h"

/*
 * Slots that are spooled at a time: the slots, their events and bytes stay in a
 * core's own cache, 1.3 MB.
 */
#define PART_SLOTS (16u << 10)

/* Bytes of a counter's sample, and of a mark of an async span, until its line is made. */
#define SAMPLE_COST 100
#define MARK_COST 150
/* Room for a name of the string table and the number of a graph. */
#define GRAPH_NAME_BYTES 1100

static int assembly_init(struct assembly *as, struct target *target)
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
	if (assembly_init(as, target)) {
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

/* --- entries of threads ------------------------------------------------------------------- */

/*
 * Two ways to compute the same instant can differ by a nanosecond, and then spans that are cut
 * there would not nest.
 */
static int64_t find_end_ns(const struct assembly *as, const struct entry *e)
{
	uint64_t end = e->start + e->duration;

	return end == as->cut_ticks ? as->cut_ns : timeline_convert(as->timeline, end);
}

static int make_event(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name,
	struct trace_event *event)
{
	int64_t end = find_end_ns(as, e);

	if (end > as->end_ns) {
		end = as->end_ns;
		e->is_unfinished = true;
	}
	event->start_ns = start_ns;
	event->duration_ns = end - start_ns;
	event->name = name;
	event->stats = stats_add(&as->stats, e, name);
	event->is_span =
		e->kind == RECORD_SPAN || e->kind == RECORD_STEP || e->kind == RECORD_LAUNCH;
	return as->stats.error;
}

static int add_async_mark(struct assembly *as, const struct entry *e, uint32_t name)
{
	const struct slot *id = entry_number(e);
	struct trace_stat args[RECORD_MAX_EXTRA];
	uint32_t n;

	if (!id) {
		as->n_invalid++;
		return 0;
	}
	n = stats_get_args(&as->stats, e, args);
	if (as->stats.error)
		return as->stats.error;
	if (memory_budget_take(as->keep, MARK_COST + n * sizeof args[0]))
		return asyncs_add(&as->asyncs, e, name, id->word[1], args, n);
	as->n_dropped++;
	gaps_add(&as->asyncs.gaps, e->start, e->start);
	return 0;
}

static int add_sample(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name)
{
	struct trace_event event;
	int r = make_event(as, e, start_ns, name, &event);

	if (r)
		return r;
	if (memory_budget_take(as->keep, SAMPLE_COST))
		return counters_add(&as->counters, as->plane, &event);
	as->n_dropped++;
	return 0;
}

static int add_event(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name)
{
	struct trace_event event;
	int r = make_event(as, e, start_ns, name, &event);

	return r ? r : events_push(&as->events, &event, e->depth);
}

static int add_span(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name)
{
	int r = add_event(as, e, start_ns, name);

	if (!r && launch_stack_wants(as->calls, e->start, e->depth))
		launches_end_span(&as->devices.launches, as->calls, e->start, e->depth,
			e->kind == RECORD_STEP ? 0 : name + 1);
	return r;
}

/* --- entries of devices ------------------------------------------------------------------- */

/* Makes a name like "cuGraphLaunch (CudaGraph:7)". */
static uint32_t name_graph_launch(struct assembly *as, uint32_t name, uint32_t graph)
{
	struct names *names = &as->plane->event_names;
	char text[GRAPH_NAME_BYTES];

	snprintf(text, sizeof text, "%s (CudaGraph:%u)", names_get(names, name), graph);
	return texts_intern(&as->texts, names, text, strlen(text));
}

static int add_launch_site(struct assembly *as, const struct entry *e, enum launch_site_kind kind,
	const struct launch_site *site)
{
	return launches_add(&as->devices.launches, as->calls, kind, site, e->start, e->depth,
		&as->devices.purse);
}

static int add_launch(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name)
{
	struct launch_site site = {.value = start_ns > 0 ? (uint64_t)start_ns : 0};
	struct launch_record launch;
	int r;

	if (!launch_read(e, &launch)) {
		as->n_invalid++;
		return 0;
	}
	if (launch.is_graph)
		name = name_graph_launch(as, name, launch.graph);
	r = name == NAMES_NONE ? -ENOMEM : add_event(as, e, start_ns, name);
	site.id = launch.correlation;
	return r || !site.id ? r : add_launch_site(as, e, LAUNCH_CALL, &site);
}

static int add_graph_node(struct assembly *as, const struct entry *e)
{
	struct launch_site site;

	if (launch_read_node(e, &site.id, &site.value))
		return add_launch_site(as, e, LAUNCH_NODE, &site);
	as->n_invalid++;
	return 0;
}

/* --- all entries ----------------------------------------------------------------------------- */

static int add_named(struct assembly *as, struct entry *e, int64_t start_ns)
{
	uint32_t name = texts_get_event_name(&as->texts, e);

	if (name == NAMES_NONE)
		return -ENOMEM;
	switch (e->kind) {
	case RECORD_ASYNC_BEGIN:
	case RECORD_ASYNC_END:
		return add_async_mark(as, e, name);
	case RECORD_COUNTER:
		return add_sample(as, e, start_ns, name);
	case RECORD_SPAN:
	case RECORD_STEP:
		return add_span(as, e, start_ns, name);
	case RECORD_LAUNCH:
		return add_launch(as, e, start_ns, name);
	default:
		return add_event(as, e, start_ns, name);
	}
}

static void add_entry(struct assembly *as, struct entry *e)
{
	int64_t start_ns = timeline_convert(as->timeline, e->start);

	if (start_ns > as->end_ns)
		return;
	as->error = e->kind == RECORD_NODE ? add_graph_node(as, e) : add_named(as, e, start_ns);
}

/* --- slots --------------------------------------------------------------------------------- */

/* A device's record has its own times, whenever it was written. */
static void add_device_entry(struct assembly *as, struct entry *e, const struct slot *slots)
{
	if (entry_read(e, slots))
		as->error = devices_add(&as->devices, e);
	else
		as->n_invalid++;
}

/* Adds the entry at |slots|; |n_slots| slots are left. Returns the number of the entry's slots. */
static size_t add_slots_of_entry(struct assembly *as, const struct slot *slots, size_t n_slots)
{
	struct entry e;

	/* The last entry may lack some of its slots, for example if the ring is damaged. */
	if (record_n_extra(slots[0].word[0]) > n_slots - 1)
		return n_slots;
	if (record_kind(slots[0].word[0]) == RECORD_DEVICE)
		add_device_entry(as, &e, slots);
	else if (!entry_decode(&e, slots, as->era))
		as->n_invalid++;
	else if (e.start >= as->start_ticks)
		add_entry(as, &e);
	return 1 + e.n_slots;
}

void assembly_set_eras(struct assembly *as, const struct era *eras, size_t n_eras)
{
	as->eras = eras;
	as->n_eras = n_eras;
}

/* Sets the era of the slot |at|. Returns the end of the era, or |end| if that is earlier. */
static size_t choose_era(struct assembly *as, size_t at, size_t end)
{
	while (as->n_eras && as->eras->end <= at)
		assembly_set_eras(as, as->eras + 1, as->n_eras - 1);
	as->era = as->n_eras ? as->eras : &as->whole;
	return as->n_eras && as->eras->end < end ? as->eras->end : end;
}

/*
 * Counts the entries from |at| on, whose time is unknown; adds entries of devices. Returns the end
 * of the last one.
 */
static size_t pass_undated(
	struct assembly *as, const struct slot *slots, size_t n_slots, size_t at, size_t end)
{
	while (at < end && !as->error) {
		if (record_kind(slots[at].word[0]) == RECORD_DEVICE) {
			at += add_slots_of_entry(as, slots + at, n_slots - at);
		} else {
			as->n_undated++;
			at += 1 + record_n_extra(slots[at].word[0]);
		}
	}
	return at;
}

/*
 * Adds entries from |at| on, of |n_wanted| slots or a little more. Returns the end of the last one.
 */
static size_t add_entries(
	struct assembly *as, const struct slot *slots, size_t n_slots, size_t at, size_t n_wanted)
{
	size_t end = n_slots - at < n_wanted ? n_slots : at + n_wanted;

	while (at < end && !as->error) {
		size_t era_end = choose_era(as, at, end);
		size_t n_plain;

		if (!era_is_known(as->era)) {
			at = pass_undated(as, slots, n_slots, at, era_end);
			continue;
		}
		n_plain = plain_take(as, slots + at, era_end - at);
		if (as->error)
			break;
		at += n_plain ? n_plain : add_slots_of_entry(as, slots + at, n_slots - at);
		if (!as->error)
			as->error = cancel_check(as->cancel);
	}
	return at;
}

int assembly_add(struct assembly *as, const struct slot *slots, size_t n_slots)
{
	as->error = texts_update(&as->texts);
	as->calls = &as->own_calls;
	as->asyncs.thread = ++as->n_threads;
	add_entries(as, slots, n_slots, 0, n_slots);
	assembly_set_eras(as, NULL, 0);
	return as->error;
}

/* The time at which |open| is cut: its thread or process may have ended before the stop. */
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
		add_entry(as, &e);
	}
	launches_end_thread(&as->devices.launches, as->calls);
	return as->error;
}

/* --- to the spool -------------------------------------------------------------------------- */

/*
 * True when the present events have no stats. Events with stats are encoded at once, before the
 * plane gets more stats and names.
 */
static bool has_no_stats(const struct assembly *as)
{
	return as->plane->n_stats == as->n_line_stats;
}

static int write_to_track(struct assembly *as, struct track *track)
{
	struct xspace_events *encoder = has_no_stats(as) ? &as->plain_encoder : &as->encoder;
	struct line *line = &as->ordered;
	int r = 0;

	if (grow(&line->events, &line->n_allocated, as->events.n))
		return -ENOMEM;
	r = events_order_by_start(&as->events, line, as->cancel);
	if (!r)
		r = track_append(track, encoder, line->events, line->n_events, as->spool, as->keep);
	as->events.n = 0;
	/* No event refers to these stats and texts any more. */
	as->plane->n_stats = as->n_line_stats;
	as->plane->n_own_bytes = as->n_line_text_bytes;
	return r;
}

int assembly_flush(struct assembly *as, struct track *track)
{
	int r;

	if (as->writer && has_no_stats(as))
		return part_writer_give(as->writer, track, &as->events);
	r = as->writer ? part_writer_settle(as->writer) : 0;
	return r ? r : write_to_track(as, track);
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
		at = add_entries(as, slots, n_slots, at, PART_SLOTS);
		if (as->gives_slots)
			spool_reuse(as->spool, at * sizeof *slots);
		if (!as->error)
			as->error = assembly_flush(as, track);
	}
	assembly_set_eras(as, NULL, 0);
	return as->error;
}
