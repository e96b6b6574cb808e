/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nanoseconds of an NVTX call, without a recording and during one, beside spans of proftap's own in
 * the same rounds. The program's NVTX is that of tests/programs/nvtx_client.h:
 * NVTX_INJECTION64_PATH must name the library.
 *
 * usage: bench_nvtx
 *
 * 	port N		then a capture is to be started
 * 	cost KIND NS EMPTY_LOOP_NS EMITTED
 * 	done		after those; it waits for the end of its standard input
 */
#include <proftap/proftap.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/loops.h"
#include "tests/bench/samples.h"
#include "tests/programs/nvtx_client.h"

#define ROUNDS 61
#define BATCH 2000
#define PAUSE_US 2000 /* for each BATCH of 16-byte slots */
#define RING_BYTES (1u << 20)

static nvtxEventAttributes_t registered;
static nvtxEventAttributes_t carrying;
static nvtxEventAttributes_t marked;
static nvtxEventAttributes_t async;

/* No tool handles these calls. */
static void emit_none(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxDomainDestroy(NULL);
		nvtxDomainDestroy(NULL);
		barrier();
	}
}

static void emit_registered(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxDomainRangePushEx(NULL, &registered);
		nvtxDomainRangePop(NULL);
		barrier();
	}
}

static void emit_carrying(int n)
{
	for (int i = 0; i < n; i++) {
		carrying.payload.llValue = i;
		nvtxDomainRangePushEx(NULL, &carrying);
		nvtxDomainRangePop(NULL);
		barrier();
	}
}

static void emit_text(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxRangePushA("text");
		nvtxRangePop();
		barrier();
	}
}

static void emit_mark(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxDomainMarkEx(NULL, &marked);
		barrier();
	}
}

static void emit_async(int n)
{
	for (int i = 0; i < n; i++) {
		nvtxDomainRangeEnd(NULL, nvtxDomainRangeStartEx(NULL, &async));
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

static void emit_args(int n)
{
	for (int i = 0; i < n; i++) {
		PTAP_SPAN_ARGS("args", PTAP_I("batch", i), PTAP_I("size", n));
		barrier();
	}
}

struct kind {
	const char *name;
	void (*emit)(int n);
	bool is_recording;
	int batch;
	int n_slots; /* of one annotation; 0: the server need not keep up */
};

static const struct kind kinds[] = {
	{"none", emit_none, false, 50 * BATCH, 0},
	{"idle", emit_registered, false, 50 * BATCH, 0},
	{"idle_async", emit_async, false, 50 * BATCH, 0},
	{"span", emit_span, true, BATCH, 1},
	{"registered", emit_registered, true, BATCH, 1},
	{"args", emit_args, true, BATCH, 3},
	{"carrying", emit_carrying, true, BATCH, 3},
	{"text", emit_text, true, BATCH, 2},
	{"mark", emit_mark, true, BATCH, 1},
	{"async", emit_async, true, BATCH, 4},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

static double emitted_ns[N_KINDS][ROUNDS];
static double empty_ns[N_KINDS][ROUNDS];

static nvtxEventAttributes_t named(const char *text)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof a);
	a.version = 3;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(NULL, text);
	return a;
}

static int prepare(void)
{
	registered = named("registered");
	carrying = named("carrying");
	carrying.colorType = NVTX_COLOR_ARGB;
	carrying.color = 0xff76b900;
	carrying.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	marked = named("mark");
	async = named("async");
	if (registered.message.registered)
		return 0;
	fprintf(stderr, "bench_nvtx: no library handles NVTX: set NVTX_INJECTION64_PATH\n");
	return -1;
}

static void run_phase(bool is_recording)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t k = 0; k < N_KINDS; k++) {
			if (kinds[k].is_recording != is_recording)
				continue;
			usleep((unsigned)(PAUSE_US * kinds[k].n_slots));
			emitted_ns[k][round] = measure(kinds[k].emit, kinds[k].batch);
			empty_ns[k][round] = measure(read_none, kinds[k].batch);
		}
	}
}

static int wait_for_capture(void)
{
	double limit = now_ns() + 30e9;

	while (!ptap_enabled(1)) {
		if (now_ns() > limit) {
			fprintf(stderr, "bench_nvtx: nobody recorded for 30 s\n");
			return -1;
		}
		usleep(200);
	}
	return 0;
}

int main(void)
{
	struct ptap_server_options options = PTAP_SERVER_OPTIONS_INIT;

	options.ring_bytes = RING_BYTES;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (ptap_server_start_with(&options)) {
		fprintf(stderr, "bench_nvtx: %s\n", ptap_last_error());
		return 1;
	}
	if (prepare())
		return 1;
	run_phase(false);
	printf("port %d\n", ptap_server_port());
	if (wait_for_capture())
		return 1;
	run_phase(true);
	for (size_t k = 0; k < N_KINDS; k++)
		printf("cost %s %.3f %.3f %d\n", kinds[k].name, median(emitted_ns[k], ROUNDS),
			median(empty_ns[k], ROUNDS),
			kinds[k].is_recording * ROUNDS * kinds[k].batch);
	puts("done");
	while (getchar() != EOF)
		;
	return 0;
}
