/* SPDX-License-Identifier: Apache-2.0 */
/* Sends logs through a spool; see spool_fixture.h. */
#include "tests/unit/spool_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/encode.h"
#include "daemon/pipeline/assembly/part_writer.h"
#include "daemon/pipeline/assembly/track.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/xspace_decode.h"

#define SPOOL_BYTES (UINT64_C(64) << 20)

struct spool_fixture spooled;

void spooled_open(void)
{
	struct diag d = DIAG_INIT;

	log_open();
	spooled.spool = NULL;
	spooled.keep = (struct memory_budget){.max_bytes = UINT64_MAX};
	ck_assert_msg(spool_new("/tmp", SPOOL_BYTES, &spooled.spool, &d) == 0, "%s", d.text);
	spooled.assembly = NULL;
}

void spooled_open_in_memory(void)
{
	log_open();
	spooled.keep = (struct memory_budget){.max_bytes = UINT64_MAX};
	ck_assert_int_eq(spool_new_in_memory(SPOOL_BYTES, &spooled.spool), 0);
	spooled.assembly = NULL;
}

void spooled_open_apart(void)
{
	spooled_open_in_memory();
	ck_assert_int_eq(part_writer_new(spooled.spool, &spooled.keep, &spooled.writer), 0);
}

void spooled_close(void)
{
	log_close();
	spooled.writer = part_writer_free(spooled.writer);
	assembly_free(spooled.assembly);
	spool_release(spooled.spool);
}

unsigned spooled_pick(unsigned n)
{
	spooled.seed = spooled.seed * 1103515245u + 12345u;
	return (spooled.seed >> 16) % n;
}

uint8_t *spooled_flatten(struct delivery *d, size_t *n_out)
{
	size_t n = delivery_get_bytes(d);
	uint8_t *bytes = malloc(n + 1);
	size_t done = 0;
	ssize_t r = 1;

	ck_assert_ptr_nonnull(bytes);
	while (r > 0) {
		size_t piece = 1 + spooled_pick(5000);

		r = delivery_read(d, bytes + done, piece < n - done ? piece : n - done);
		ck_assert_int_ge(r, 0);
		done += (size_t)r;
	}
	ck_assert_uint_eq(done, n);
	*n_out = n;
	return bytes;
}

struct delivery *spooled_deliver(struct space *space, struct spool *of, uint64_t max_bytes)
{
	struct encode_request request = {.space = space, .spool = of, .max_bytes = max_bytes};
	struct delivery *d = NULL;
	uint64_t n_left_out;

	ck_assert_int_eq(encode(&request, &d, &n_left_out), 0);
	return d;
}

/*
 * Returns the first end of an entry at |at| or later. |cut| is the end of an entry at |at| or
 * earlier.
 */
static size_t find_cut(const struct thread_log *log, size_t cut, size_t at)
{
	while (cut < at && cut < log->n_slots)
		cut += 1 + record_n_extra(log->slots[cut].word[0]);
	return cut;
}

void spooled_begin(void)
{
	ck_assert_int_eq(
		assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &spooled.assembly),
		0);
	assembly_set_spool(spooled.assembly, spooled.spool, &spooled.keep);
	assembly_set_writer(spooled.assembly, spooled.writer);
	spooled.assembly->timeline = &logs.timeline;
}

/* Spools |log| in parts of up to |max_part| slots, except for a tail, which may be empty. */
void spooled_put(struct thread_log *log, unsigned max_part)
{
	size_t tail = spooled_pick(2) * spooled_pick(1000);
	size_t at = 0;
	size_t end = find_cut(log, 0, log->n_slots > tail ? log->n_slots - tail : log->n_slots);

	log->track = track_new(spooled.spool);
	ck_assert_ptr_nonnull(log->track);
	while (at < end) {
		size_t part = find_cut(log, at, at + 1 + spooled_pick(max_part));

		part = part < end ? part : end;
		ck_assert_int_eq(
			assembly_spool(spooled.assembly, log->track, log->slots + at, part - at),
			0);
		at = part;
	}
	memmove(log->slots, log->slots + end, (log->n_slots - end) * sizeof *log->slots);
	log->n_slots -= end;
}

void spooled_assemble(void)
{
	struct assembly *assembly = spooled.assembly;

	if (spooled.writer)
		ck_assert_int_eq(part_writer_end(spooled.writer), 0);
	spooled.assembly = NULL;
	log_assemble_with(assembly);
}

struct space *spooled_decode(const uint8_t *bytes, size_t n)
{
	struct diag d = DIAG_INIT;
	struct space *space = NULL;

	ck_assert_msg(xspace_decode(bytes, n, &space, &d) == 0, "%s", d.text);
	return space;
}
