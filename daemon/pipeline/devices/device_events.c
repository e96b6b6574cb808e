/* SPDX-License-Identifier: Apache-2.0 */
/* Events of devices; see device_events.h. */
#include "daemon/pipeline/devices/device_events.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "daemon/pipeline/devices/device_details.h"
#include "daemon/pipeline/devices/device_words.h"
#include "daemon/pipeline/devices/devices.h"
#include "daemon/target/entry.h"
#include "trace/model/space.h"

/* What an event takes here, and on its way out; what a new line and new details take, with their texts. */
#define EVENT_COST \
	(sizeof(struct device_event) + sizeof(struct trace_event) + DEVICES_ENCODED_BYTES)
#define DETAIL_COST 512
#define LINE_COST 256

static struct device_line *get_line(struct devices *d, const struct device_line_key *key)
{
	size_t n = d->lines.n;
	struct device_line *line = device_lines_get(&d->lines, key);

	if (d->lines.n > n)
		purse_pay(&d->purse, LINE_COST);
	return line;
}

static int add_event(struct devices *d, const struct device_record *r,
	const struct device_line_key *key, const struct device_detail *detail, uint64_t value)
{
	struct device_event event = {
		.start_ns = r->v.start_ns, .end_ns = r->v.end_ns, .value = value};
	struct device_line *line;
	uint32_t n = d->details.n;
	enum device_word word;

	if (r->v.end_ns < r->v.start_ns) {
		d->n_invalid++;
		return 0;
	}
	if (!purse_pay(&d->purse, EVENT_COST)) {
		d->n_crowded++;
		return 0;
	}
	line = get_line(d, key);
	event.detail = keys_intern(&d->details, detail);
	if (!line || event.detail == KEYS_NONE)
		return -ENOMEM;
	if (d->details.n > n)
		purse_pay(&d->purse, DETAIL_COST);
	d->n_events++;
	word = device_word_find(detail);
	if (word != N_DEVICE_WORDS)
		line->kinds |= 1u << word;
	return device_line_add(line, &event);
}

static struct device_detail begin_detail(const struct device_record *r)
{
	return (struct device_detail){
		.kind = r->v.kind,
		.collector = r->v.collector,
		.device = r->v.device,
		.context = r->v.context,
		.name = r->entry->string_id,
	};
}

static int add_to_stream(
	struct devices *d, const struct device_record *r, const struct device_detail *detail)
{
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = DEVICE_LINE_STREAM,
		.device = r->v.device,
		.context = r->v.context,
		.stream = r->v.stream,
	};

	return add_event(d, r, &key, detail, r->v.correlation);
}

/* On the device's one line of that class. */
static int add_beside(struct devices *d, const struct device_record *r, enum device_line_type type,
	const struct device_detail *detail, uint64_t value)
{
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = (uint8_t)type,
		.device = r->v.device,
	};

	return add_event(d, r, &key, detail, value);
}

static int take_kernel(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.kernel = r->v.of.kernel;
	return add_to_stream(d, r, &detail);
}

static int take_copy(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.copy = r->v.of.copy;
	detail.of.copy.reserved = 0;
	return add_to_stream(d, r, &detail);
}

static int take_set(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.set = r->v.of.set;
	memset(detail.of.set.reserved, 0, sizeof detail.of.set.reserved);
	return add_to_stream(d, r, &detail);
}

static int take_graph(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.graph.graph = r->v.of.graph.graph;
	return add_to_stream(d, r, &detail);
}

static int take_sync(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.sync.waited = r->v.of.sync;
	detail.of.sync.stream = r->v.stream;
	return add_beside(d, r, DEVICE_LINE_SYNC, &detail, r->v.correlation);
}

static int take_overhead(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	return add_beside(d, r, DEVICE_LINE_OVERHEAD, &detail, r->v.correlation);
}

static int take_memory(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);

	detail.of.memory = r->v.of.memory;
	memset(detail.of.memory.reserved, 0, sizeof detail.of.memory.reserved);
	return add_beside(d, r, DEVICE_LINE_MEMORY, &detail, r->v.correlation);
}

static int take_counter(struct devices *d, const struct device_record *r)
{
	struct device_detail detail = begin_detail(r);
	struct device_line_key key = {
		.collector = r->v.collector,
		.type = DEVICE_LINE_COUNTER,
		.device = r->v.device,
	};
	uint64_t value;
	uint32_t number;
	int found =
		device_metrics_find(&d->metrics, d->arena, r->entry->string_id, &d->purse, &number);

	if (found) {
		d->n_crowded += found == DEVICE_METRICS_FULL;
		return found == DEVICE_METRICS_FULL ? 0 : found;
	}
	key.stream = number;
	detail.context = 0;
	memcpy(&value, &r->v.of.counter, sizeof value);
	return add_event(d, r, &key, &detail, value);
}

int device_events_take(struct devices *d, const struct device_record *r)
{
	static int (*const takers[])(struct devices *, const struct device_record *) = {
		[DEVICE_KERNEL] = take_kernel,
		[DEVICE_COPY] = take_copy,
		[DEVICE_SET] = take_set,
		[DEVICE_SYNC] = take_sync,
		[DEVICE_OVERHEAD] = take_overhead,
		[DEVICE_MEMORY] = take_memory,
		[DEVICE_GRAPH] = take_graph,
		[DEVICE_COUNTER] = take_counter,
	};

	return takers[r->v.kind](d, r);
}
