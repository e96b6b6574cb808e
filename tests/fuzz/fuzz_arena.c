/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the server's reading of the memory that it shares with a target: the arena's
 * head, the string table, the rings and the open spans. They are drained twice, with a change in
 * between, assembled and encoded, in memory and through a spool. The result is a trace that
 * decodes, within the capture's memory limit. The input is two bytes N and M, then N writes to the
 * arena, each {place, index, length (a byte each), that many bytes}. The rings are visited, and M
 * more writes follow. The rest of the input is the initial content of the first ring.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/encode.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/drain/ring_picture.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"

#define N_RINGS 2u
#define RING_BYTES ARENA_MIN_RING_BYTES
#define WORD 7u /* the word of the capture */
#define START_TICKS (UINT64_C(1) << 40)
#define STOP_TICKS (START_TICKS + 4000000)
/* Less than the rings hold, so that this limit is reached, too. */
#define MAX_BYTES (96u << 10)
#define KEEP_BYTES (8u << 10)
#define SPOOL_BYTES (48u << 10)
#define DEVICE_KEEP_BYTES (128u << 10)

static struct arena *arena;

/* The input that is not consumed yet. */
struct input {
	const uint8_t *at;
	size_t left;
};

static uint8_t take_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/*
 * Takes |n| bytes, or all that are left, and copies |room| of them at most to |to|. Returns their
 * number.
 */
static size_t take_bytes(struct input *in, void *to, size_t n, size_t room)
{
	n = n < in->left ? n : in->left;
	memcpy(to, in->at, n < room ? n : room);
	in->at += n;
	in->left -= n;
	return n < room ? n : room;
}

/* Returns the target of a write, which has |room| bytes. */
static void *find_place(uint8_t place, uint8_t index, size_t *room)
{
	struct ring *ring = arena_ring(arena, place & 1, RING_BYTES);

	switch (place >> 1) {
	case 0:
		*room = offsetof(struct arena, owner);
		return arena;
	case 1:
		*room = offsetof(struct arena, message) - offsetof(struct arena, strings_used);
		return &arena->strings_used;
	case 2:
		*room = ARENA_STRINGS_BYTES - 8u * index;
		return arena_strings(arena) + 8u * index;
	case 3:
		*room = sizeof *ring - 8u * index % sizeof *ring;
		return (char *)ring + 8u * index % sizeof *ring;
	case 4:
		*room = sizeof ring->open[0] * (RECORD_MAX_DEPTH - index % RECORD_MAX_DEPTH);
		return &ring->open[index % RECORD_MAX_DEPTH];
	case 5:
		*room = sizeof(struct ring_frame) * (RECORD_MAX_DEPTH - index % RECORD_MAX_DEPTH);
		return ring_frame(ring, index % RECORD_MAX_DEPTH);
	default:
		*room = RING_BYTES - SLOT_BYTES * index;
		return ring_data(ring) + index;
	}
}

static void write_some(struct input *in)
{
	uint8_t place = take_byte(in);
	uint8_t index = take_byte(in);
	uint8_t length = take_byte(in);
	size_t room;
	void *to = find_place(place % 14, index, &room);

	take_bytes(in, to, length, room);
}

/*
 * Makes the state of a target that has just started: both rings have an owner, and there are some
 * names.
 */
static void reset_arena(void)
{
	static const char names[] = "\4\0\0\0span\5\0\0\0count\0\0\0\3\0\0\0arg";

	memset(arena, 0, ARENA_HEAD_BYTES + 4096);
	for (uint32_t i = 0; i < N_RINGS; i++) {
		struct ring *ring = arena_ring(arena, i, RING_BYTES);

		memset(ring, 0, ring_stride_bytes(RING_BYTES));
		atomic_store(&ring->word, WORD);
		atomic_store(&ring->tid, (int32_t)i + 1);
		atomic_store(&arena->ring_state[i], RING_USED);
	}
	arena->magic = ARENA_MAGIC;
	arena->version_low = ARENA_VERSION_LOW;
	arena->version_high = ARENA_VERSION_HIGH;
	arena->n_rings = N_RINGS;
	arena->ring_bytes = RING_BYTES;
	memcpy(arena_strings(arena) + 8, names, sizeof names);
	atomic_store(&arena->strings_used, 8 + sizeof names + 4);
}

static void map_arena(void)
{
	void *p = mmap(NULL, arena_size_bytes(N_RINGS, RING_BYTES), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	arena = p;
}

/*
 * Skips |n| writes. The bytes after them go into the first ring, and its head is set accordingly.
 */
static void fill_ring(struct input in, unsigned n)
{
	struct ring *ring = arena_ring(arena, 0, RING_BYTES);

	while (n--) {
		take_byte(&in);
		take_byte(&in);
		take_bytes(&in, ring, take_byte(&in), 0);
	}
	n = (unsigned)take_bytes(&in, ring_data(ring), in.left, RING_BYTES);
	atomic_store(&ring->head, n / SLOT_BYTES);
	/* The state is valid unless a later write changes it. */
	ring->limit = n / SLOT_BYTES;
}

static void check(const uint8_t *bytes, size_t n)
{
	_cleanup_(space_freep) struct space *space = NULL;

	if (xspace_decode(bytes, n, &space, NULL))
		abort();
}

static void deliver(struct space *space, struct spool *spool)
{
	struct encode_request request = {.space = space, .spool = spool};
	struct delivery *d = NULL;
	uint64_t n_left_out;
	uint8_t *bytes;
	size_t n;

	if (encode(&request, &d, &n_left_out))
		abort();
	n = delivery_get_bytes(d);
	bytes = malloc(n + 1);
	if (delivery_read(d, bytes, n + 1) != (ssize_t)n)
		abort();
	check(bytes, n);
	free(bytes);
	delivery_free(d);
}

static void assemble(const struct drain *drain, struct timeline *timeline, struct spool *spool,
	struct assembly *assembly)
{
	struct assemble_input in = {
		.drain = drain,
		.timeline = timeline,
		.earliest_ticks = START_TICKS,
		.start_ticks = START_TICKS,
		.window_ticks = START_TICKS,
		.stop_ticks = STOP_TICKS,
		.uses_ticks = 1,
		.plane_name = PLANE_HOST,
		.assembly = assembly,
	};
	_cleanup_(space_freep) struct space *space = NULL;

	if (space_new(&space) || assemble_host_plane(&in, space))
		abort();
	deliver(space, spool);
}

/* Spills like a spooler. */
static void spill(struct drain *drain, struct spool *spool, struct assembly *as)
{
	for (size_t i = 0; i < drain->n_logs; i++) {
		struct thread_log *log = drain->logs[i];
		struct slot_batch batch;

		if (!log->track)
			log->track = track_new(spool);
		batch = thread_log_steal(log, drain->budget);
		if (!log->track || assembly_spool(as, log->track, batch.slots, batch.n))
			abort();
		free(batch.slots);
	}
}

static struct assembly *begin_spooling(struct target *t, struct timeline *timeline,
	struct memory_budget keeps[2], struct spool **spool)
{
	struct assembly *as = NULL;

	if (spool_new("/tmp", SPOOL_BYTES, spool, NULL) ||
		assembly_new(t, START_TICKS, START_TICKS, &as))
		abort();
	as->timeline = timeline;
	assembly_set_spool(as, *spool, &keeps[0]);
	devices_set_keep(&as->devices, &keeps[1]);
	return as;
}

/* Takes pictures of the rings, as a flight recorder does. */
static void take_pictures(struct target *t)
{
	for (uint32_t i = 0; i < t->n_rings; i++) {
		struct drain_budget budget = {.max_bytes = MAX_BYTES};
		struct thread_log log = {.tid = 0};

		if (ring_picture_take(t, i, WORD, &budget, &log) < 0 ||
			budget.used_bytes > MAX_BYTES + MAX_BYTES / 8)
			abort();
		free(log.slots);
		free(log.open);
	}
}

static void run_capture(struct target *t, struct input in, unsigned n_writes, int spools)
{
	struct drain_budget budget = {.max_bytes = MAX_BYTES};
	struct clock_pair start = {START_TICKS, 0};
	struct clock_pair stop = {STOP_TICKS, 1000000};
	struct memory_budget keeps[2] = {
		{.max_bytes = KEEP_BYTES}, {.max_bytes = DEVICE_KEEP_BYTES}};
	struct assembly *as = NULL;
	struct spool *spool = NULL;
	struct timeline timeline;
	struct drain drain;
	int error = 0;

	drain_init(&drain, t, &budget);
	drain_begin(&drain, WORD);
	timeline_init(&timeline, 1);
	if (timeline_add(&timeline, start) || timeline_add(&timeline, stop))
		abort();
	if (spools)
		as = begin_spooling(t, &timeline, keeps, &spool);
	if (drain_visit(&drain, &error) > 1000)
		abort();
	for (; n_writes; n_writes--) {
		if (spools && n_writes % 2 == 0)
			spill(&drain, spool, as);
		write_some(&in);
		if (spools)
			drain_visit(&drain, &error);
	}
	drain_finish(&drain, &error);
	take_pictures(t);
	if (error || budget.used_bytes > MAX_BYTES)
		abort();
	assemble(&drain, &timeline, spool, as);
	timeline_deinit(&timeline);
	drain_deinit(&drain);
	spool_release(spool);
}

/* Reads the same arena, drained into memory or into a spool. */
static void try(const uint8_t *data, size_t n_bytes, int spools)
{
	struct input in = {data, n_bytes};
	struct target *t = calloc(1, sizeof *t);
	struct diag d = DIAG_INIT;
	unsigned n_before = take_byte(&in) % 16;
	unsigned n_after = take_byte(&in) % 16;

	reset_arena();
	t->arena = arena;
	t->size_bytes = arena_size_bytes(N_RINGS, RING_BYTES);
	t->pid = getpid();
	fill_ring(in, n_before + n_after);
	for (unsigned i = 0; i < n_before; i++)
		write_some(&in);
	if (target_read_head(t, &d) == 0)
		run_capture(t, in, n_after, spools);
	else if (!d.text[0])
		abort();
	free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	if (!arena)
		map_arena();
	try(data, n_bytes, 0);
	try(data, n_bytes, 1);
	return 0;
}
