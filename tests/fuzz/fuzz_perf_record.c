/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the records of perf events. The first byte of the input chooses what samples
 * consist of, the next two where the ring begins. The rest is a record, with the size that it has
 * and with the right one, and also what lies in a ring. What is decoded lies within the record.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/pipeline/samples/perf_record.h"
#include "daemon/pipeline/samples/perf_ring.h"
#include "tests/fuzz/fuzz.h"

#define RING_BYTES 4096

static const struct perf_layout layouts[] = {
	{&perf_x86_64, PERF_SAMPLED_ALWAYS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 0},
	{&perf_x86_64, PERF_SAMPLED_ALWAYS | PERF_SAMPLE_CALLCHAIN, 10101010},
	{&perf_aarch64, PERF_SAMPLED_ALWAYS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 0},
	{&perf_aarch64, PERF_SAMPLED_ALWAYS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER, 0},
};

static void check_that(bool is_so)
{
	if (!is_so)
		abort();
}

/* The record that is decoded. */
struct whole {
	const struct perf_layout *layout;
	const uint8_t *bytes;
	size_t n;
};

static void check_within(const struct whole *whole, const void *part, size_t n)
{
	const uint8_t *p = part;

	check_that(p >= whole->bytes && p <= whole->bytes + whole->n);
	check_that(n <= (size_t)(whole->bytes + whole->n - p));
}

static void check_text(const struct whole *whole, const char *text)
{
	check_within(whole, text, 1);
	check_within(whole, text, strnlen(text, whole->n) + 1);
}

static void check_sample(const struct whole *whole, const struct perf_sample *sample)
{
	const struct perf_registers *r = &sample->registers;
	uint64_t sum = 0;

	for (int i = 0; i < N_PERF_REGISTERS; i++)
		sum += perf_registers_get(r, i);
	for (size_t i = 0; i < sample->chain.n; i++)
		sum += perf_words_get(&sample->chain, i);
	check_that(r->bits == 0 || r->bits == 32 || r->bits == 64);
	check_that(r->n == (r->bits ? (size_t)__builtin_popcountll(r->processor->mask) : 0));
	check_that(r->bits || sum == 0 || sample->chain.n);
	if (sample->chain.n)
		check_within(whole, sample->chain.bytes, 8 * sample->chain.n);
	if (sample->stack)
		check_within(whole, sample->stack, sample->n_stack_bytes);
	check_that(sample->stack || !sample->n_stack_bytes);
}

static void check(const struct whole *whole, const struct perf_record *record)
{
	check_that(record->at_ns >= 0);
	switch (record->kind) {
	case PERF_KIND_SAMPLE:
		check_sample(whole, &record->sample);
		break;
	case PERF_KIND_COMM:
		check_text(whole, record->comm.name);
		break;
	case PERF_KIND_MAPPING:
		check_text(whole, record->mapping.path);
		check_that(record->mapping.n_build_id_bytes <= PERF_BUILD_ID_MAX_BYTES);
		break;
	default:
		check_that(record->kind <= PERF_KIND_UNTHROTTLE);
		break;
	}
}

static void decode(const struct whole *whole)
{
	struct perf_record record;
	int r = perf_record_decode(whole->layout, whole->bytes, whole->n, &record);

	check_that(r == 0 || r == PERF_UNUSED || r == PERF_BROKEN);
	if (!r)
		check(whole, &record);
}

/* Each copy ends where its memory ends. */
static void decode_alone(const struct perf_layout *layout, const uint8_t *data, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct whole whole = {layout, copy, n};
	uint16_t size = (uint16_t)n;

	if (!copy)
		abort();
	memcpy(copy, data, n);
	decode(&whole);
	if (n >= sizeof(struct perf_event_header) && n <= UINT16_MAX) {
		memcpy(copy + offsetof(struct perf_event_header, size), &size, sizeof size);
		decode(&whole);
	}
	free(copy);
}

static void take(void *context, const void *record, size_t n_bytes)
{
	struct whole whole = {context, record, n_bytes};

	check_that(n_bytes >= 8 && n_bytes <= RING_BYTES && (uintptr_t)record % 8 == 0);
	decode(&whole);
}

/* The ring begins anywhere, and its head may lie. A second drain finds nothing. */
static void drain(const struct perf_layout *layout, uint64_t tail, const uint8_t *data, size_t n)
{
	static struct perf_scratch scratch;
	struct perf_event_mmap_page control = {.data_tail = tail, .data_head = tail + n};
	uint8_t *bytes = calloc(1, RING_BYTES);
	struct perf_ring ring;
	int r;

	if (!bytes)
		abort();
	for (size_t i = 0; i < n && i < RING_BYTES; i++)
		bytes[(tail + i) % RING_BYTES] = data[i];
	perf_ring_init(&ring, &control, bytes, RING_BYTES);
	r = perf_ring_drain(&ring, &scratch, take, (void *)layout);
	check_that(r == 0 || r == PERF_RING_BROKEN);
	check_that(control.data_tail == control.data_head && ring.found_bytes <= RING_BYTES);
	r = perf_ring_drain(&ring, &scratch, take, (void *)layout);
	check_that(r == 0 || (control.data_tail % 8 && r == PERF_RING_BROKEN));
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	const struct perf_layout *layout;
	uint16_t tail;

	if (n_bytes < 3)
		return 0;
	layout = &layouts[data[0] % (sizeof layouts / sizeof *layouts)];
	memcpy(&tail, data + 1, sizeof tail);
	decode_alone(layout, data + 3, n_bytes - 3);
	drain(layout, tail, data + 3, n_bytes - 3);
	return 0;
}
