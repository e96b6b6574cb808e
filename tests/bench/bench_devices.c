/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of a million kernels for the server, in processor time: their launching calls,
 * read from slots of a ring, and encoded; the kernels themselves, read and kept; and the rest of
 * the work at the end of the recording, up to bytes. Some kernels have few different grids, as
 * if loops launched them; others have only their names in common. The same run has as many plain
 * spans for comparison.
 *
 * Prints a line for each: its name and the median, ns a kernel.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/encode.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/track.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "lib/wire/device.h"
#include "tests/bench/samples.h"
#include "trace/model/space.h"

#define N_KERNELS 1000000u
#define N_STREAMS 4u
#define N_NAMES 50u
#define N_GRIDS 8u
#define CALLS_PER_SPAN 10u
#define N_RUNS 5
#define SPOOL_BYTES (UINT64_C(1) << 30)
#define START_TICKS UINT64_C(1000000)
#define KERNEL_NS UINT64_C(2000)
/*
 * Slots of a kernel: the record, and five more. Slots of a call: the record, its correlation
 * number, and its device and context.
 */
#define KERNEL_SLOTS 6u
#define CALL_SLOTS 3u

/* How kernels were launched. */
enum shape {
	SHAPE_FEW,
	SHAPE_OWN, /* each kernel in its own way */
	N_SHAPES
};

enum cost {
	COST_SPANS,
	COST_CALLS,
	COST_KERNELS, /* one for each of N_SHAPES, as COST_END */
	COST_END = COST_KERNELS + N_SHAPES,
	N_COSTS = COST_END + N_SHAPES
};

struct slots {
	struct slot *v;
	size_t n;
};

struct bench {
	struct target target;
	struct drain_budget budget;
	struct drain drain;
	struct timeline timeline;
	struct memory_budget keep;
	struct spool *spool;
	struct assembly *as;
	uint32_t ids[N_NAMES];
	struct slots calls;
	struct slots kernels[N_SHAPES];
	struct slots spans;
	double costs[N_COSTS]; /* of all kernels, in ns */
	uint64_t n_bytes[N_SHAPES];
};

/* --- the program --------------------------------------------------------------------------- */

static void add_name(struct bench *b, unsigned i)
{
	struct arena *arena = b->target.arena;
	uint32_t at = atomic_load(&arena->strings_used);
	char *to = arena_strings(arena) + at;
	uint32_t n = (uint32_t)sprintf(to + sizeof n, "_ZN3net8kernel%02uIfEEvPKT_PS1_i", i);

	memcpy(to, &n, sizeof n);
	b->ids[i] = at / 8;
	atomic_store(&arena->strings_used, (at + (uint32_t)sizeof n + n + 7) & ~7u);
}

static int open_target(struct bench *b)
{
	struct target *t = &b->target;

	t->size_bytes = arena_size_bytes(1, ARENA_MIN_RING_BYTES);
	t->arena = mmap(
		NULL, t->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->arena == MAP_FAILED)
		return -1;
	t->pid = getpid();
	atomic_store(&t->arena->strings_used, 8);
	for (unsigned i = 0; i < N_NAMES; i++)
		add_name(b, i);
	return 0;
}

static void put(struct slots *s, uint64_t word0, uint64_t word1)
{
	s->v[s->n++] = (struct slot){{word0, word1}};
}

static void put_record(struct slots *s, enum record_kind kind, uint64_t at, uint64_t n,
	unsigned extra, uint32_t id)
{
	put(s, record_word0(START_TICKS + at, kind, kind == RECORD_LAUNCH, extra),
		record_word1(n, id));
}

/* Puts all calls, ten in each span, whose record follows them. */
static void put_calls(struct bench *b)
{
	for (uint64_t i = 0; i < N_KERNELS; i++) {
		put_record(&b->calls, RECORD_LAUNCH, i * KERNEL_NS + 100, 500, 2, b->ids[0]);
		put(&b->calls, slot_word0(0, SLOT_U64, 0), i + 1);
		put(&b->calls, slot_word0(0, SLOT_U64, 0), launch_where(0, 1, 0));
		if (i % CALLS_PER_SPAN == CALLS_PER_SPAN - 1)
			put_record(&b->calls, RECORD_SPAN, (i - CALLS_PER_SPAN + 1) * KERNEL_NS,
				CALLS_PER_SPAN * KERNEL_NS - 100, 0, b->ids[i / 10 % N_NAMES]);
	}
}

static void put_entry(struct slots *s, const struct device_entry *e, uint32_t id)
{
	uint32_t n = device_entry_bytes(e->kind) / SLOT_BYTES;

	put_record(s, RECORD_DEVICE, 0, 0, n, id);
	memcpy(&s->v[s->n], e, n * SLOT_BYTES);
	s->n += n;
}

static void put_anchor(struct slots *s, uint64_t at)
{
	struct device_entry e = {.kind = DEVICE_ANCHOR, .start_ns = at, .end_ns = at};

	/* An anchor's entry needs two slots and a half. */
	put_record(s, RECORD_DEVICE, 0, 0, 3, STRING_ID_LOST);
	memcpy(&s->v[s->n], &e, 3 * SLOT_BYTES);
	s->n += 3;
}

static void put_kernels(struct bench *b, struct slots *to, uint64_t n_grids)
{
	struct device_entry e = {.kind = DEVICE_KERNEL, .context = 1};

	put_anchor(to, START_TICKS);
	put_anchor(to, START_TICKS + N_KERNELS * KERNEL_NS);
	for (uint64_t i = 0; i < N_KERNELS; i++) {
		e.stream = 7 + i % N_STREAMS;
		e.correlation = i + 1;
		e.start_ns = START_TICKS + i * KERNEL_NS + 600;
		e.end_ns = e.start_ns + KERNEL_NS - 100;
		e.of.kernel = (struct device_kernel){
			.grid = {(uint32_t)(1 + i % n_grids), 1, 1},
			.block = {256, 1, 1},
			.registers = 32,
		};
		put_entry(to, &e, b->ids[i * 7 % N_NAMES]);
	}
}

static void put_spans(struct bench *b)
{
	for (uint64_t i = 0; i < N_KERNELS; i++)
		put_record(&b->spans, RECORD_SPAN, i * KERNEL_NS, KERNEL_NS - 100, 0,
			b->ids[i * 7 % N_NAMES]);
}

static int make_room(struct slots *s, size_t n)
{
	s->v = calloc(n, sizeof *s->v);
	return s->v ? 0 : -1;
}

static int make_slots(struct bench *b)
{
	if (make_room(&b->calls, N_KERNELS * (CALL_SLOTS + 1)) ||
		make_room(&b->kernels[SHAPE_FEW], N_KERNELS * KERNEL_SLOTS + 16) ||
		make_room(&b->kernels[SHAPE_OWN], N_KERNELS * KERNEL_SLOTS + 16) ||
		make_room(&b->spans, N_KERNELS))
		return -1;
	put_calls(b);
	put_kernels(b, &b->kernels[SHAPE_FEW], N_GRIDS);
	put_kernels(b, &b->kernels[SHAPE_OWN], N_KERNELS);
	put_spans(b);
	return 0;
}

/* --- the server ---------------------------------------------------------------------------- */

static int open_capture(struct bench *b)
{
	struct clock_pair start = {START_TICKS, START_TICKS};
	struct clock_pair stop = {
		START_TICKS + N_KERNELS * KERNEL_NS, START_TICKS + N_KERNELS * KERNEL_NS};

	b->budget = (struct drain_budget){.max_bytes = SPOOL_BYTES};
	b->keep = (struct memory_budget){.max_bytes = UINT64_MAX};
	drain_init(&b->drain, &b->target, &b->budget);
	timeline_init(&b->timeline, 0);
	if (timeline_add(&b->timeline, start) || timeline_add(&b->timeline, stop) ||
		spool_new_in_memory(SPOOL_BYTES, &b->spool) ||
		assembly_new(&b->target, START_TICKS, START_TICKS, &b->as))
		return -1;
	assembly_set_spool(b->as, b->spool, &b->keep);
	b->as->timeline = &b->timeline;
	return 0;
}

/* Makes the log of a thread, and passes all its slots to the spool. */
static int spool(struct bench *b, const struct slots *slots, double *cost)
{
	struct thread_log *log = calloc(1, sizeof *log);
	double start;
	int r;

	if (!log)
		return -1;
	b->drain.logs = reallocarray(b->drain.logs, b->drain.n_logs + 1, sizeof log);
	b->drain.logs[b->drain.n_logs++] = log;
	log->tid = 100 + (int32_t)b->drain.n_logs;
	log->track = track_new(b->spool);
	start = thread_cpu_ns();
	r = log->track ? assembly_spool(b->as, log->track, slots->v, slots->n) : -1;
	*cost = thread_cpu_ns() - start;
	return r;
}

/* The rest of the work after the last read, up to bytes that can be sent. */
static int end_capture(struct bench *b, enum shape shape)
{
	struct assemble_input in = {
		.drain = &b->drain,
		.timeline = &b->timeline,
		.earliest_ticks = START_TICKS,
		.start_ticks = START_TICKS,
		.window_ticks = START_TICKS,
		.stop_ticks = START_TICKS + N_KERNELS * KERNEL_NS,
		.plane_name = PLANE_HOST,
		.assembly = b->as,
	};
	_cleanup_(space_freep) struct space *space = NULL;
	struct encode_request request = {.spool = b->spool};
	struct delivery *delivery = NULL;
	uint64_t n_left_out;
	double start = thread_cpu_ns();
	int r = space_new(&space);

	b->as = NULL;
	if (!r)
		r = assemble_host_plane(&in, space);
	request.space = space;
	if (!r)
		r = encode(&request, &delivery, &n_left_out);
	b->costs[COST_END + shape] = thread_cpu_ns() - start;
	b->n_bytes[shape] = delivery ? delivery_get_bytes(delivery) : 0;
	delivery_free(delivery);
	return r;
}

static void close_capture(struct bench *b)
{
	assembly_free(b->as);
	b->as = NULL;
	drain_deinit(&b->drain);
	timeline_deinit(&b->timeline);
	spool_release(b->spool);
}

static int run_kernels(struct bench *b, enum shape shape)
{
	int r = open_capture(b);

	if (!r)
		r = spool(b, &b->calls, &b->costs[COST_CALLS]);
	if (!r)
		r = spool(b, &b->kernels[shape], &b->costs[COST_KERNELS + shape]);
	if (!r)
		r = end_capture(b, shape);
	close_capture(b);
	return r;
}

static int run_spans(struct bench *b)
{
	int r = open_capture(b);

	if (!r)
		r = spool(b, &b->spans, &b->costs[COST_SPANS]);
	close_capture(b);
	return r;
}

int main(void)
{
	static struct bench b;
	static const char *const names[N_COSTS] = {
		"spans", "calls", "few_read", "own_read", "few_encoded", "own_encoded"};
	double all[N_COSTS][N_RUNS];

	if (open_target(&b) || make_slots(&b))
		return 1;
	for (int i = 0; i < N_RUNS; i++) {
		if (run_spans(&b) || run_kernels(&b, SHAPE_OWN) || run_kernels(&b, SHAPE_FEW))
			return 1;
		for (int k = 0; k < N_COSTS; k++)
			all[k][i] = b.costs[k] / N_KERNELS;
	}
	for (int k = 0; k < N_COSTS; k++)
		printf("%s %.1f\n", names[k], median(all[k], N_RUNS));
	printf("few_bytes %.1f\n", (double)b.n_bytes[SHAPE_FEW] / N_KERNELS);
	printf("own_bytes %.1f\n", (double)b.n_bytes[SHAPE_OWN] / N_KERNELS);
	return 0;
}
