/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the layout of the memory that a library and a server share: if they have the same version
 * number, they must have the same layout. After a change, raise ARENA_VERSION_HIGH
 * (lib/wire/arena.h), and put the new number and sum below.
 */
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/wire/arena.h"
#include "lib/wire/device.h"
#include "tests/unit/unit.h"

#define NUMBER 8u
#define SUM UINT32_C(0x3f338a61)

struct place {
	size_t offset;
	size_t n_bytes;
};

/* clang-format off */
#define PLACE(type, field) {offsetof(struct type, field), sizeof((struct type *)0)->field}
#define IN_ARENA(field) PLACE(arena, field)
#define IN_TRACE(field) PLACE(arena_trace, field)
#define IN_SNAPSHOT(field) PLACE(arena_snapshot, field)
#define IN_COLLECT(field) PLACE(arena_collect, field)
#define IN_DEVICE(field) PLACE(device_entry, field)
#define IN_RING(field) PLACE(ring, field)
#define IN_FRAME(field) PLACE(ring_frame, field)
#define IN_OPEN(field) PLACE(ring_open, field)
#define IN_MARK(field) PLACE(ring_mark, field)
/* clang-format on */

static const struct place places[] = {
	IN_ARENA(magic),
	IN_ARENA(version_low),
	IN_ARENA(version_high),
	IN_ARENA(hello_error),
	IN_ARENA(owner),
	IN_ARENA(command),
	IN_ARENA(ack),
	IN_ARENA(op),
	IN_ARENA(arg),
	IN_ARENA(word),
	IN_ARENA(guest),
	IN_ARENA(hello),
	IN_ARENA(clock),
	IN_ARENA(message),
	IN_ARENA(flags),
	IN_ARENA(n_rings),
	IN_ARENA(ring_bytes),
	IN_ARENA(size_bytes),
	IN_ARENA(pid),
	IN_ARENA(port),
	IN_ARENA(log_level),
	IN_ARENA(max_capture_bytes),
	IN_ARENA(name),
	IN_ARENA(address),
	IN_ARENA(strings_used),
	IN_ARENA(strings_ready),
	IN_ARENA(rings_ready),
	IN_ARENA(rings_allowed),
	IN_ARENA(lost_no_ring),
	IN_ARENA(ring_state),
	IN_ARENA(log_dir),
	IN_ARENA(trace),
	IN_ARENA(join_name),
	IN_ARENA(join_secret),
	IN_ARENA(n_join_failures),
	IN_ARENA(join_error),
	IN_ARENA(join_error_heard),
	IN_ARENA(n_joins_heard),
	IN_ARENA(parent),
	IN_ARENA(own_socket),
	IN_ARENA(recorder_options),
	IN_ARENA(recorder_is_on),
	IN_ARENA(snapshot),
	IN_TRACE(state),
	IN_TRACE(result),
	IN_TRACE(message),
	IN_TRACE(log_dir),
	IN_TRACE(options),
	IN_SNAPSHOT(word),
	IN_SNAPSHOT(trouble),
	IN_SNAPSHOT(why),
	IN_ARENA(collect),
	IN_COLLECT(state),
	IN_COLLECT(is_cancelled),
	IN_COLLECT(ring),
	IN_COLLECT(repeat),
	IN_COLLECT(hand_on),
	IN_COLLECT(handed_on),
	IN_COLLECT(running_since_ns),
	IN_COLLECT(n_said),
	IN_COLLECT(step),
	IN_COLLECT(who),
	IN_COLLECT(said),
	IN_COLLECT(options),
	IN_DEVICE(kind),
	IN_DEVICE(device),
	IN_DEVICE(context),
	IN_DEVICE(stream),
	IN_DEVICE(correlation),
	IN_DEVICE(start_ns),
	IN_DEVICE(end_ns),
	IN_DEVICE(of),
	IN_RING(head),
	IN_RING(limit),
	IN_RING(depth),
	IN_RING(word),
	IN_RING(slot_mask),
	IN_RING(n_other),
	IN_RING(first),
	IN_RING(tail),
	IN_RING(tid),
	IN_RING(name_at),
	IN_RING(names),
	IN_RING(lost),
	IN_RING(handle),
	IN_RING(open),
	IN_RING(marks),
	IN_FRAME(n_slots),
	IN_FRAME(word0),
	IN_FRAME(slots),
	IN_OPEN(start),
	IN_OPEN(what),
	IN_MARK(position),
	IN_MARK(ordinal),
};

static const uint64_t numbers[] = {
	sizeof(struct arena),
	sizeof(struct arena_trace),
	sizeof(struct arena_snapshot),
	sizeof(struct ring),
	sizeof(struct ring_frame),
	ARENA_HEAD_BYTES,
	ARENA_STRINGS_BYTES,
	ARENA_MAX_RINGS,
	RING_SEGMENTS,
	RING_PAGE_BYTES,
	RING_FRAMES_BYTES,
	SLOT_BYTES,
	RECORD_START_BITS,
	RECORD_DURATION_BITS,
	RECORD_MAX_DEPTH,
	RECORD_MAX_EXTRA,
	RECORD_KINDS,
	SLOT_TYPES,
	LOSS_KINDS,
	STRING_ID_BITS,
	STRING_ID_DYNAMIC,
	STRING_ID_LOST,
	ARENA_OP_COLLECT,
	ARENA_START_GOES_ON,
	ARENA_COLLECTS,
	ARENA_TRACE_DONE,
	ARENA_COLLECT_DONE,
	ARENA_COLLECT_STEPS,
	RING_WORD_DEVICES,
	sizeof(struct device_kernel),
	sizeof(struct device_copied),
	sizeof(struct device_filled),
	sizeof(struct device_memory_change),
	sizeof(struct device_info),
	DEVICE_KINDS,
	DEVICE_LOSSES,
	DEVICE_MAX_BLOB,
	ARENA_SNAPSHOT_TAKEN,
};

/* FNV-1a. */
static uint32_t add(uint32_t sum, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		sum = (sum ^ (uint32_t)(number >> i * 8 & 255)) * 16777619u;
	return sum;
}

static uint32_t sum_up(void)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		sum = add(add(sum, places[i].offset), places[i].n_bytes);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sum = add(sum, numbers[i]);
	return sum;
}

START_TEST(a_layout_has_one_number)
{
	ck_assert_msg(ARENA_VERSION_HIGH == NUMBER && sum_up() == SUM,
		"the shared memory's layout %u has the sum 0x%08x; expected: layout %u, sum "
		"0x%08x; after a change raise ARENA_VERSION_HIGH in lib/wire/arena.h, and then "
		"put its number and sum into this test",
		ARENA_VERSION_HIGH, sum_up(), NUMBER, SUM);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_layout_has_one_number),
	{NULL},
};

UNIT_MAIN("layout", .tests = tests)
