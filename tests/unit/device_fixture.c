/* SPDX-License-Identifier: Apache-2.0 */
/* Records of devices in logs; see device_fixture.h. */
#include "tests/unit/device_fixture.h"

#include <check.h>
#include <string.h>

#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"

/* CLOCK_MONOTONIC at the start, as in log_fixture.c. */
#define MONOTONIC_NS 777

static uint64_t to_ticks(int64_t ns)
{
	return (uint64_t)ns * LOG_TICKS_PER_NS;
}

/* --- putting records ----------------------------------------------------------------------- */

struct device_entry device_make(enum device_kind kind, int64_t start, int64_t end)
{
	return (struct device_entry){
		.kind = (uint8_t)kind,
		.context = 1,
		.stream = 7,
		.start_ns = DEVICE_EPOCH_NS + (uint64_t)start,
		.end_ns = DEVICE_EPOCH_NS + (uint64_t)end,
	};
}

/* Collectors intern a name once and use it often. */
static uint32_t intern(const char *name)
{
	static uint32_t id;

	if (!id || id * 8 >= atomic_load(&fixture.arena->strings_used) ||
		strcmp(fixture_string(id), name) != 0)
		id = fixture_add_string(name);
	return id;
}

void device_put_bytes(struct thread_log *log, const char *name, const void *bytes, uint32_t n_bytes)
{
	struct slot slots[RECORD_MAX_EXTRA] = {{{0, 0}}};
	uint32_t n = (n_bytes + SLOT_BYTES - 1) / SLOT_BYTES;

	ck_assert_uint_le(n, RECORD_MAX_EXTRA);
	memcpy(slots, bytes, n_bytes);
	log_put(log, RECORD_DEVICE, name ? intern(name) : STRING_ID_LOST, 0, 0, 0, n);
	for (uint32_t i = 0; i < n; i++)
		log_put_slot(log, slots[i].word[0], slots[i].word[1]);
}

void device_put(struct thread_log *log, const char *name, const struct device_entry *entry)
{
	device_put_bytes(log, name, entry, device_entry_bytes(entry->kind));
}

static void put_anchor(struct thread_log *log, int64_t at)
{
	struct device_entry e = device_make(DEVICE_ANCHOR, at, 0);

	e.end_ns = MONOTONIC_NS + (uint64_t)at;
	device_put(log, NULL, &e);
}

void device_put_anchors(struct thread_log *log)
{
	put_anchor(log, 0);
	put_anchor(log, DEVICE_STOP_NS);
}

void device_put_kernel(
	struct thread_log *log, const char *name, uint64_t correlation, int64_t start, int64_t end)
{
	struct device_entry e = device_make(DEVICE_KERNEL, start, end);

	e.correlation = correlation;
	e.of.kernel =
		(struct device_kernel){.grid = {16, 1, 1}, .block = {256, 1, 1}, .registers = 32};
	device_put(log, name, &e);
}

void device_put_info(struct thread_log *log, uint16_t device, uint8_t uuid)
{
	struct device_entry e = device_make(DEVICE_INFO, 0, 0);

	e.device = device;
	e.of.info = (struct device_info){
		.memory_bytes = UINT64_C(80) << 30,
		.memory_bandwidth = UINT64_C(3350000000000),
		.core_count = 132,
		.clock_khz = 1980000,
		.compute_major = 9,
		.warp_threads = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_core = 2048,
		.max_blocks_per_core = 32,
		.registers_per_block = 65536,
		.registers_per_core = 65536,
		.shared_per_block = 49152,
		.shared_per_block_optin = 232448,
		.shared_per_core = 233472,
		.reserved_shared_per_block = 1024,
		.driver_version = 13000,
		.vendor = 0x10de,
	};
	memset(e.of.info.uuid, uuid, sizeof e.of.info.uuid);
	device_put(log, "NVIDIA H100", &e);
}

static void put_call(struct thread_log *log, const char *name, uint64_t correlation, uint64_t where,
	int64_t start, int64_t end, unsigned depth)
{
	log_put(log, RECORD_LAUNCH, fixture_add_string(name), to_ticks(start),
		to_ticks(end - start), depth, launch_flags(where) ? 3 : 2);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), correlation);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), where);
}

void device_put_launch(struct thread_log *log, const char *name, uint64_t correlation,
	int64_t start, int64_t end, unsigned depth)
{
	put_call(log, name, correlation, launch_where(0, 1, 0), start, end, depth);
}

void device_put_launch_in(struct thread_log *log, uint32_t context, int64_t start, int64_t end)
{
	put_call(log, "cuLaunchKernel", 1, launch_where(0, context, 0), start, end, 0);
}

void device_put_graph_launch(struct thread_log *log, uint64_t correlation, uint32_t graph,
	int64_t start, int64_t end, unsigned depth)
{
	put_call(log, "cuGraphLaunch", correlation, launch_where(0, 1, LAUNCH_IS_GRAPH), start, end,
		depth);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), graph);
}

void device_put_node(
	struct thread_log *log, uint64_t node, uint64_t original, int64_t at, unsigned depth)
{
	log_put(log, RECORD_NODE, STRING_ID_LOST, to_ticks(at), 0, depth, 2);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), node);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), original);
}

void device_put_span(
	struct thread_log *log, const char *name, int64_t start, int64_t end, unsigned depth)
{
	log_put_span(log, name, to_ticks(start), to_ticks(end), depth);
}

/* --- reading the trace --------------------------------------------------------------------- */

struct plane *device_plane(const char *name)
{
	struct plane *plane = space_find_plane(logs.space, name);

	ck_assert_msg(plane, "no plane %s", name);
	return plane;
}

const struct line *device_line(const struct plane *plane, const char *name)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		if (strcmp(plane->lines[i].name, name) == 0)
			return &plane->lines[i];
	ck_abort_msg("no line %s", name);
	return NULL;
}

const char *device_event_name(const struct plane *plane, const struct trace_event *event)
{
	return names_get(&plane->event_names, event->name);
}

const struct trace_event *device_event(
	const struct plane *plane, const struct line *line, const char *name)
{
	for (size_t i = 0; i < line->n_events; i++)
		if (strcmp(device_event_name(plane, &line->events[i]), name) == 0)
			return &line->events[i];
	ck_abort_msg("no event %s", name);
	return NULL;
}

const struct trace_stat *device_stat(
	const struct plane *plane, const struct trace_event *event, const char *name)
{
	return plane_find_stat(plane, event, names_find(&plane->stat_names, name));
}

const char *device_text(
	const struct plane *plane, const struct trace_event *event, const char *name)
{
	const struct trace_stat *stat = device_stat(plane, event, name);

	if (!stat)
		return NULL;
	ck_assert_int_eq(stat->type, STAT_STRING);
	return names_get(&plane->stat_names, stat->value.string);
}
