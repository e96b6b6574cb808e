/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of threads; see entries.h. */
#include "daemon/pipeline/assembly/entries.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/devices/launch.h"
#include "daemon/target/entry.h"
#include "daemon/target/timeline.h"

/* What a sample of a counter, or a mark of an async span, takes until its line is made. */
#define SAMPLE_COST 100
#define MARK_COST 150
/* A name of the string table, and the number of a graph. */
#define GRAPH_NAME_BYTES 1100

/* Two ways of finding the same instant can differ by a nanosecond, and then spans that are cut there do not nest. */
static int64_t find_end_ns(const struct assembly *as, const struct entry *e)
{
	uint64_t end = e->start + e->duration;

	return end == as->cut_ticks ? as->cut_ns : timeline_convert(as->timeline, end);
}

static int to_event(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name,
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
	int r = to_event(as, e, start_ns, name, &event);

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
	int r = to_event(as, e, start_ns, name, &event);

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

/* --- of devices ---------------------------------------------------------------------------- */

/* "cuGraphLaunch (CudaGraph:7)" */
static uint32_t name_graph_launch(struct assembly *as, uint32_t name, uint32_t graph)
{
	struct names *names = &as->plane->event_names;
	char text[GRAPH_NAME_BYTES];

	snprintf(text, sizeof text, "%s (CudaGraph:%u)", names_get(names, name), graph);
	return texts_intern(&as->texts, names, text, strlen(text));
}

static int add_site(struct assembly *as, const struct entry *e, enum launch_site_kind kind,
	const struct launch_site *site)
{
	return launches_add(&as->devices.launches, as->calls, kind, site, e->start, e->depth,
		&as->devices.purse);
}

static int add_launch(struct assembly *as, struct entry *e, int64_t start_ns, uint32_t name)
{
	struct launch_site site = {.value = start_ns > 0 ? (uint64_t)start_ns : 0};
	struct launch launch;
	int r;

	if (!launch_read(e, &launch)) {
		as->n_invalid++;
		return 0;
	}
	if (launch.is_graph)
		name = name_graph_launch(as, name, launch.graph);
	r = name == NAMES_NONE ? -ENOMEM : add_event(as, e, start_ns, name);
	site.id = launch.correlation;
	return r || !site.id ? r : add_site(as, e, LAUNCH_CALL, &site);
}

static int add_node(struct assembly *as, const struct entry *e)
{
	struct launch_site site;

	if (launch_read_node(e, &site.id, &site.value))
		return add_site(as, e, LAUNCH_NODE, &site);
	as->n_invalid++;
	return 0;
}

/* --- all kinds ----------------------------------------------------------------------------- */

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

void entries_add(struct assembly *as, struct entry *e)
{
	int64_t start_ns = timeline_convert(as->timeline, e->start);

	if (start_ns > as->end_ns)
		return;
	as->error = e->kind == RECORD_NODE ? add_node(as, e) : add_named(as, e, start_ns);
}
