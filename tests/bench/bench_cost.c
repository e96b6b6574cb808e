/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nanoseconds of an annotation: off, recording (also the first lap through the ring), and into a
 * full ring. A program as users write them: the installed header, the shared library, nothing
 * internal.
 *
 * usage: bench_cost THREADS
 *
 * Each batch of annotations is followed by a batch of as many clock reads, so that both run at the
 * same clock frequency and beside the same load. The program pauses between batches, so that the
 * server keeps up: all that is emitted must be in the file. It exchanges lines with its caller:
 *
 * 	port N		then a capture is to be started; it must not end before this program says "full"
 * 	recorded	then proftapd is to be stopped, and a line to be written: the full ring is next
 * 	full		then proftapd is to go on, and figures and counts follow
 * 	done		after those; it waits for the end of its standard input
 */
#include <proftap/proftap.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/loops.h"
#include "tests/bench/samples.h"

#define MAX_THREADS 16
#define RING_BYTES (1u << 20)
#define ROUNDS 61
#define BATCH 2000
#define PAUSE_US 2000 /* for each BATCH of 16-byte slots */

static void emit_off(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("off");
		barrier();
	}
}

static void emit_span(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("span");
		barrier();
	}
}

static void emit_first(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("first");
		barrier();
	}
}

static void emit_args(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN_ARGS("args", PTAP_I("batch", i), PTAP_I("size", n));
		barrier();
	}
}

static void emit_instant(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_INSTANT("instant");
		barrier();
	}
}

static void emit_counter(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_COUNTER("counter", i);
		barrier();
	}
}

static void emit_full(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN("full");
		barrier();
	}
}

enum phase {
	PHASE_OFF,
	PHASE_FIRST,
	PHASE_RECORDING,
	PHASE_FULL
};

struct kind {
	const char *name;
	enum phase phase;
	void (*emit)(int n);
	void (*read)(int n); /* clock reads, as many as an annotation needs */
	int batch;
	int n_slots; /* of one annotation; 0: the server need not keep up */
};

static const struct kind kinds[] = {
	{"off", PHASE_OFF, emit_off, read_two, 50 * BATCH, 0},
	/* All its rounds fit into the ring once. */
	{"first", PHASE_FIRST, emit_first, read_two, BATCH / 2, 1},
	{"span", PHASE_RECORDING, emit_span, read_two, BATCH, 1},
	{"args", PHASE_RECORDING, emit_args, read_two, BATCH, 3},
	{"instant", PHASE_RECORDING, emit_instant, read_one, BATCH, 1},
	{"counter", PHASE_RECORDING, emit_counter, read_one, BATCH, 2},
	{"full", PHASE_FULL, emit_full, read_two, 5 * BATCH, 0},
};

_Static_assert(ROUNDS *BATCH / 2 <= RING_BYTES / 16, "the first lap is one");

#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* Nanoseconds of one annotation of a kind. */
struct samples {
	double emit[ROUNDS];
	double read[ROUNDS];
	double none[ROUNDS];
};

static struct samples samples[MAX_THREADS][N_KINDS];
static pthread_barrier_t phase_begin;
static pthread_barrier_t phase_end;

static void measure_kind(const struct kind *kind, struct samples *s, int round)
{
	usleep((unsigned)(PAUSE_US * kind->n_slots));
	s->emit[round] = measure(kind->emit, kind->batch);
	s->read[round] = measure(kind->read, kind->batch);
	s->none[round] = measure(read_none, kind->batch);
}

static void run_phase(enum phase phase, struct samples *s)
{
	/* The ring is filled before the measurement. */
	if (phase == PHASE_FULL)
		emit_full(RING_BYTES / 16);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t k = 0; k < N_KINDS; k++)
			if (kinds[k].phase == phase)
				measure_kind(&kinds[k], &s[k], round);
}

static void *work(void *s)
{
	for (int phase = PHASE_OFF; phase <= PHASE_FULL; phase++) {
		pthread_barrier_wait(&phase_begin);
		run_phase((enum phase)phase, s);
		pthread_barrier_wait(&phase_end);
	}
	return NULL;
}

static void let_phase_run(void)
{
	pthread_barrier_wait(&phase_begin);
	pthread_barrier_wait(&phase_end);
}

/* The median over the rounds of all threads. */
static double get_median(size_t offset, size_t kind, int n_threads)
{
	double all[MAX_THREADS * ROUNDS];
	size_t n = 0;

	for (int t = 0; t < n_threads; t++) {
		const double *from = (const double *)((const char *)&samples[t][kind] + offset);

		for (int i = 0; i < ROUNDS; i++)
			all[n++] = from[i];
	}
	return median(all, n);
}

static int64_t count_emitted(const struct kind *kind, int n_threads)
{
	int64_t n = (int64_t)ROUNDS * kind->batch;

	if (kind->phase == PHASE_OFF)
		return 0;
	if (kind->phase == PHASE_FULL)
		n += RING_BYTES / 16;
	return n * n_threads;
}

static void print_figures(int n_threads)
{
	for (size_t k = 0; k < N_KINDS; k++)
		printf("cost %s %.3f %.3f %.3f %lld\n", kinds[k].name,
			get_median(offsetof(struct samples, emit), k, n_threads),
			get_median(offsetof(struct samples, read), k, n_threads),
			get_median(offsetof(struct samples, none), k, n_threads),
			(long long)count_emitted(&kinds[k], n_threads));
	puts("done");
}

static int start_server(void)
{
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;

	options.ring_bytes = RING_BYTES;
	if (ptap_server_start_with(&options) == 0)
		return 0;
	fprintf(stderr, "bench_cost: %s\n", ptap_last_error());
	return -1;
}

static int wait_for_capture(void)
{
	double limit = now_ns() + 30e9;

	while (!ptap_enabled(1)) {
		if (now_ns() > limit) {
			fprintf(stderr, "bench_cost: nobody recorded for 30 s\n");
			return -1;
		}
		usleep(200);
	}
	return 0;
}

static int run_phases(void)
{
	let_phase_run(); /* off */
	printf("port %d\n", ptap_server_port());
	if (wait_for_capture())
		return -1;
	let_phase_run(); /* the first lap */
	let_phase_run(); /* recording */
	puts("recorded");
	if (getchar() != '\n')
		return -1;
	let_phase_run(); /* full */
	puts("full");
	if (ptap_enabled(1))
		return 0;
	fprintf(stderr, "bench_cost: the capture ended too early\n");
	return -1;
}

int main(int argc, char **argv)
{
	int n_threads = argc == 2 ? atoi(argv[1]) : 0;

	if (n_threads < 1 || n_threads > MAX_THREADS || start_server())
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&phase_begin, NULL, (unsigned)n_threads + 1);
	pthread_barrier_init(&phase_end, NULL, (unsigned)n_threads + 1);
	for (int t = 0; t < n_threads; t++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, samples[t]))
			return 1;
		pthread_detach(thread);
	}
	if (run_phases())
		return 1;
	print_figures(n_threads);
	/* The server must still collect the data in the rings. */
	return getchar() == EOF ? 0 : 1;
}
