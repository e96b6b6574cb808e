/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the processor time per span, in ns, from the rings to the bytes of the file. The nested
 * spans of 8 threads are copied out while they are "recorded", then put in order and encoded: once
 * in memory after the recording, as for a flight recorder's snapshot or a capture that needs no
 * file; once through the spool, where ordering and encoding run during the recording.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "tests/bench/samples.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

#define N_RINGS 8u
#define RING_BYTES (1u << 20)
#define N_SLOTS (RING_BYTES / SLOT_BYTES)
#define PART (N_SLOTS / 4) /* slots written between two visits */
#define N_ROUNDS 16
#define N_SPANS ((double)N_RINGS * PART * N_ROUNDS)
#define N_NAMES 50
#define MAX_OPEN 12
#define N_RUNS 5
#define WORD 5u
#define START_TICKS UINT64_C(1000000)
#define PAIR_TICKS UINT64_C(50000000)
#define PART_BYTES (UINT64_C(2) << 20)
/* the bytes that the spooler appends at a time */
#define PIECE_BYTES ((size_t)240 << 10)
#define KEEP_BYTES (UINT64_C(64) << 20)

/* A thread with a ring that is being recorded. */
struct writer {
	struct ring *ring;
	uint64_t now; /* ticks */
	uint64_t open[MAX_OPEN];
	unsigned depth;
	uint32_t seed;
};

/* Processor time of a run, in ns a span. */
struct costs {
	double copy;
	double order; /* with all of the spooler's thread */
	double encode;
	double write; /* the part of |order| that writes the spool's file */
};

struct bench {
	struct target target;
	struct writer writers[N_RINGS];
	struct drain_budget budget;
	struct drain drain;
	struct timeline timeline;
	uint32_t ids[N_NAMES];
	struct costs costs;
};

/* The processor time of all other threads. */
static double others_cpu_ns(void)
{
	return process_cpu_ns() - thread_cpu_ns();
}

static uint32_t pick(struct writer *w, uint32_t n)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return (w->seed >> 8) % n;
}

/* --- the program --------------------------------------------------------------------------- */

static void add_name(struct bench *b, int i)
{
	struct arena *arena = b->target.arena;
	uint32_t at = atomic_load(&arena->strings_used);
	char *to = arena_strings(arena) + at;
	uint32_t n = (uint32_t)sprintf(to + sizeof n, "function_%d", i);

	memcpy(to, &n, sizeof n);
	b->ids[i] = at / 8;
	atomic_store(&arena->strings_used, (at + (uint32_t)sizeof n + n + 7) & ~7u);
}

static int open_target(struct bench *b)
{
	struct target *t = &b->target;

	t->size_bytes = arena_size_bytes(N_RINGS, RING_BYTES);
	t->arena = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (t->arena == MAP_FAILED)
		return -1;
	t->n_rings = N_RINGS;
	t->ring_bytes = RING_BYTES;
	t->n_slots = N_SLOTS;
	t->pid = getpid();
	t->arena->n_rings = N_RINGS;
	t->arena->ring_bytes = RING_BYTES;
	atomic_store(&t->arena->strings_used, 8);
	for (int i = 0; i < N_NAMES; i++)
		add_name(b, i);
	return 0;
}

static void open_writer(struct bench *b, uint32_t i)
{
	struct writer *w = &b->writers[i];

	*w = (struct writer){.now = START_TICKS + 100, .seed = i + 1};
	w->ring = arena_ring(b->target.arena, i, RING_BYTES);
	memset(w->ring, 0, sizeof *w->ring);
	b->target.tail[i] = 0;
	atomic_store(&w->ring->tid, (int32_t)(getpid() + (int)i));
	atomic_store(&w->ring->word, WORD);
	atomic_store(&b->target.arena->ring_state[i], RING_USED);
}

/* Enters a segment like lib/record/segment.c. */
static void enter_segment(struct ring *ring, uint64_t head)
{
	struct ring_mark *mark = ring_mark(ring, head, N_SLOTS);

	ring->limit = ring_next_boundary(head + 1, N_SLOTS);
	if (head % (N_SLOTS / RING_SEGMENTS))
		return;
	atomic_store(&mark->position, head);
	atomic_store(&mark->ordinal, head);
}

static void end_span(const struct bench *b, struct writer *w)
{
	uint64_t head = atomic_load(&w->ring->head);
	struct slot *slot = ring_data(w->ring) + head % N_SLOTS;
	uint64_t start = w->open[--w->depth];

	if (head == ring_get_limit(w->ring))
		enter_segment(w->ring, head);
	slot->word[0] = record_word0(start, RECORD_SPAN, w->depth, 0);
	slot->word[1] = record_word1(w->now - start, b->ids[pick(w, N_NAMES)]);
	atomic_store(&w->ring->head, head + 1);
}

/* Spans of 0.23 us and more; the mean depth is half of MAX_OPEN. */
static void record(const struct bench *b, struct writer *w)
{
	uint64_t end = atomic_load(&w->ring->head) + PART;

	while (atomic_load(&w->ring->head) < end) {
		w->now += 600 + pick(w, 1200);
		if (w->depth == MAX_OPEN || (w->depth && pick(w, 2)))
			end_span(b, w);
		else
			w->open[w->depth++] = w->now;
	}
}

/* --- the server ---------------------------------------------------------------------------- */

static int open_drain(struct bench *b)
{
	struct clock_pair pair = {START_TICKS, 1000};

	b->budget = (struct drain_budget){.max_bytes = UINT64_C(1) << 30};
	drain_init(&b->drain, &b->target, &b->budget);
	drain_begin(&b->drain, WORD);
	timeline_init(&b->timeline, 1);
	for (uint32_t i = 0; i < N_RINGS; i++)
		open_writer(b, i);
	return timeline_add(&b->timeline, pair);
}

static void close_drain(struct bench *b)
{
	drain_deinit(&b->drain);
	timeline_deinit(&b->timeline);
}

static int add_pair(struct bench *b)
{
	const struct clock_pair *last = &b->timeline.pairs[b->timeline.n_pairs - 1];
	struct clock_pair pair = {
		last->ticks + PAIR_TICKS, last->monotonic_ns + (int64_t)(PAIR_TICKS * 10 / 26)};

	return timeline_add(&b->timeline, pair);
}

static uint64_t find_end(const struct bench *b)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < N_RINGS; i++)
		if (b->writers[i].now > end)
			end = b->writers[i].now;
	return end;
}

static int visit(struct bench *b, bool is_last)
{
	int error = 0;
	double start = thread_cpu_ns();

	if (is_last)
		drain_finish(&b->drain, &error);
	else
		drain_visit(&b->drain, &error);
	b->costs.copy += thread_cpu_ns() - start;
	return error;
}

static int give(struct bench *b, struct spooler *spooler, struct assembly *as)
{
	int error = add_pair(b);

	b->budget.sink = spooler_get_sink(spooler);
	return error ? error : drain_give(&b->drain, &b->budget, as, &b->timeline);
}

/* Records in parts, with all the visits in between. */
static int record_all(struct bench *b, struct spooler *spooler, struct assembly *as)
{
	int error = 0;

	for (int round = 0; round < N_ROUNDS && !error; round++) {
		for (uint32_t i = 0; i < N_RINGS; i++)
			record(b, &b->writers[i]);
		while (b->timeline.pairs[b->timeline.n_pairs - 1].ticks < find_end(b))
			error |= add_pair(b);
		error |= visit(b, round == N_ROUNDS - 1);
		if (!error && spooler && b->budget.slot_bytes >= PART_BYTES)
			error = give(b, spooler, as);
	}
	return error;
}

static int finish(struct bench *b, struct assembly *as)
{
	_cleanup_(space_freep) struct space *space = NULL;
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
	_cleanup_(xspace_gaps_deinit) struct xspace_gaps gaps = {NULL, 0, 0, 0};
	struct assemble_input in = {
		.drain = &b->drain,
		.timeline = &b->timeline,
		.earliest_ticks = START_TICKS,
		.start_ticks = START_TICKS,
		.window_ticks = START_TICKS,
		.stop_ticks = find_end(b),
		.uses_ticks = 1,
		.plane_name = PLANE_HOST,
		.assembly = as,
	};
	double start = thread_cpu_ns();

	if (space_new(&space) || assemble_host_plane(&in, space))
		return -1;
	b->costs.order += thread_cpu_ns() - start;
	start = thread_cpu_ns();
	if (xspace_encode_around(space, &out, &gaps))
		return -1;
	b->costs.encode += thread_cpu_ns() - start;
	return 0;
}

/* Waits for the spooler's thread; finish() encodes all but the events. */
static int finish_spooled(
	struct bench *b, struct spooler *spooler, struct assembly *as, double start)
{
	int r = spooler_finish(spooler);

	b->costs.order += others_cpu_ns() - start;
	return r ? r : finish(b, as);
}

static int open_spooler(struct bench *b, int in_memory, struct spooler **out, struct assembly **as)
{
	struct spooler_config config = {.max_bytes = UINT64_C(1) << 30,
		.keep_bytes = KEEP_BYTES,
		.in_memory = in_memory,
		.uses_ticks = 1};
	struct diag d = DIAG_INIT;

	if (spooler_new(&config, out, &d)) {
		fprintf(stderr, "bench_drain: %s\n", d.text);
		return -1;
	}
	if (assembly_new(&b->target, START_TICKS, START_TICKS, as))
		return -1;
	spooler_adopt(*out, *as);
	return 0;
}

static int run_in_memory(struct bench *b)
{
	struct spooler *spooler;
	struct assembly *as;
	double start;
	int r = record_all(b, NULL, NULL);

	start = others_cpu_ns();
	if (r || open_spooler(b, 1, &spooler, &as))
		return -1;
	r = give(b, spooler, as);
	if (!r)
		r = finish_spooled(b, spooler, as, start);
	spooler_free(spooler);
	return r;
}

/* Writes as many bytes again, to measure the file alone. */
static int write_again(struct bench *b, uint64_t n_bytes)
{
	_cleanup_(chunks_deinit) struct chunks piece = CHUNKS_INIT;
	struct spool *spool;
	uint64_t offset;
	double start;
	int r = 0;

	if (spool_new(NULL, UINT64_C(1) << 30, &spool, NULL))
		return -1;
	memset(chunks_reserve(&piece, PIECE_BYTES), 1, PIECE_BYTES);
	chunks_commit(&piece, PIECE_BYTES);
	start = thread_cpu_ns();
	for (uint64_t at = 0; at < n_bytes && !r; at += PIECE_BYTES)
		r = spool_append(spool, &piece, &offset);
	b->costs.write = thread_cpu_ns() - start;
	spool_release(spool);
	return r;
}

/* The spooler's thread orders, encodes and writes. */
static int run_spooled(struct bench *b)
{
	double start = others_cpu_ns();
	struct spooler *spooler;
	struct assembly *as;
	int r;

	if (open_spooler(b, 0, &spooler, &as))
		return -1;
	b->budget.sink = spooler_get_sink(spooler);
	r = record_all(b, spooler, as);
	if (!r)
		r = finish_spooled(b, spooler, as, start);
	if (!r)
		r = write_again(b, spool_get_bytes(spooler_get_spool(spooler)));
	spooler_free(spooler);
	return r;
}

static int measure(struct bench *b, const char *what, int (*run)(struct bench *))
{
	double copy[N_RUNS];
	double order[N_RUNS];
	double encode[N_RUNS];
	double write[N_RUNS];

	for (int i = 0; i < N_RUNS; i++) {
		int r;

		memset(&b->costs, 0, sizeof b->costs);
		r = open_drain(b) || run(b);
		close_drain(b);
		if (r)
			return 1;
		copy[i] = b->costs.copy / N_SPANS;
		order[i] = b->costs.order / N_SPANS;
		encode[i] = b->costs.encode / N_SPANS;
		write[i] = b->costs.write / N_SPANS;
	}
	printf("%s %.1f", what, median(copy, N_RUNS));
	printf(" %.1f", median(order, N_RUNS));
	printf(" %.1f", median(encode, N_RUNS));
	printf(" %.1f\n", median(write, N_RUNS));
	return 0;
}

int main(void)
{
	static struct bench b;

	if (open_target(&b))
		return 1;
	return measure(&b, "memory", run_in_memory) || measure(&b, "spooled", run_spooled);
}
