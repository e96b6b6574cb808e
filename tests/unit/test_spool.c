/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that random nested spans become the same bytes if they are assembled as a whole, and if
 * they go through a spool, in a file or in memory, in parts that are cut anywhere.
 */
#include "daemon/pipeline/assembly/spool.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/part_writer.h"
#include "daemon/pipeline/assembly/track.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/same_trace.h"
#include "tests/unit/span_trees.h"
#include "tests/unit/spool_fixture.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

#define N_LOGS 3
/*
 * The number of random traces; each size of parts occurs at least once. ThreadSanitizer takes
 * seconds for one trace.
 */
#ifdef __SANITIZE_THREAD__
#define N_TRACES 5
#else
#define N_TRACES 10
#endif

/* --- both ways ----------------------------------------------------------------------------- */

static uint8_t *assemble_in_memory(size_t *n_out)
{
	struct delivery *d;
	uint8_t *bytes;

	log_assemble();
	d = spooled_deliver(logs.space, NULL, 0);
	logs.space = space_free(logs.space);
	bytes = spooled_flatten(d, n_out);
	delivery_free(d);
	return bytes;
}

/* --- tests --------------------------------------------------------------------------------- */

START_TEST(gives_the_same_trace_as_memory)
{
	static const unsigned max_parts[] = {1, 7, 100, 3000, 50000};
	struct delivery *d;
	uint8_t *expected;
	uint8_t *got;
	size_t n_expected;
	size_t n;

	spooled.seed = 4711 + (unsigned)_i;
	for (int i = 0; i < N_LOGS; i++)
		span_trees_fill(log_add(100 + i, "worker"), (uint64_t)i * 1000, 15000, _i % 2 == 0);
	expected = assemble_in_memory(&n_expected);
	spooled_begin();
	/*
	 * In half of the runs the first thread stays in memory. Its names then come last, which
	 * is the order for such lines.
	 */
	for (int i = _i % 2; i < N_LOGS; i++)
		spooled_put(logs.drain.logs[i], max_parts[_i % 5]);
	spooled_assemble();
	ck_assert_uint_eq(logs.plane->lines[0].n_events > 0, _i % 2);
	ck_assert_uint_gt(logs.plane->lines[1].n_stored, 1000);
	ck_assert_uint_eq(logs.plane->lines[1].n_events, 0);
	d = spooled_deliver(logs.space, spooled.spool, 0);
	got = spooled_flatten(d, &n);
	same_trace_expect(expected, n_expected, got, n);
	delivery_free(d);
	free(expected);
	free(got);
}
END_TEST

/* With one thread, even the order of the names is the same. */
START_TEST(gives_the_same_bytes_as_memory)
{
	struct thread_log *log = log_add(1, "t");
	struct delivery *d;
	uint8_t *expected;
	uint8_t *got;
	size_t n_expected;
	size_t n;

	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t start = 40 + i * 100;

		log_put_span(log, "inner", start + 8, start + 40, 2);
		log_put_span(log, "middle", start, start + 80, 1);
		if (i % 10 == 9)
			log_put_span(log, "outer", start - 900 - 8, start + 88, 0);
	}
	expected = assemble_in_memory(&n_expected);
	spooled_begin();
	spooled.seed = 1 + (unsigned)_i;
	spooled_put(log, 200u << _i);
	spooled_assemble();
	/* The delivery is read directly, and then also made into a reply. */
	d = spooled_deliver(logs.space, spooled.spool, 0);
	got = spooled_flatten(d, &n);
	ck_assert_uint_eq(n, n_expected);
	ck_assert(memcmp(got, expected, n) == 0);
	delivery_free(d);
	free(expected);
	free(got);
}
END_TEST

START_TEST(is_lent_as_chunks)
{
	struct thread_log *log = log_add(1, "t");
	struct chunks out = CHUNKS_INIT;
	struct delivery *d;
	uint8_t *expected;
	size_t n_expected;
	size_t at = 0;

	spooled.seed = 99;
	span_trees_fill(log, 0, 30000, true);
	spooled_begin();
	spooled_put(log, 500);
	spooled_assemble();
	d = spooled_deliver(logs.space, spooled.spool, 0);
	expected = spooled_flatten(d, &n_expected);
	delivery_free(d);
	d = spooled_deliver(logs.space, spooled.spool, 0);
	delivery_take_chunks(d, &out);
	delivery_free(d);
	/*
	 * The chunks keep the spool, and all tracks are written, so the writer is no longer needed.
	 */
	spooled.writer = part_writer_free(spooled.writer);
	spooled.spool = spool_release(spooled.spool);
	ck_assert_int_eq(out.error, 0);
	ck_assert_uint_eq(out.total_bytes, n_expected);
	for (size_t i = 0; i < out.n_chunks; i++) {
		ck_assert(memcmp(out.chunks[i].data, expected + at, out.chunks[i].used_bytes) == 0);
		at += out.chunks[i].used_bytes;
	}
	ck_assert_uint_eq(at, n_expected);
	chunks_deinit(&out);
	free(expected);
}
END_TEST

/* Large pieces of a spool in memory are lent without a copy; the bytes between them are read. */
START_TEST(is_lent_a_piece_at_a_time)
{
	struct thread_log *log = log_add(1, "t");
	struct delivery *d;
	uint8_t *expected;
	size_t n_expected;
	size_t n_lent = 0;
	size_t at = 0;

	spooled.seed = 7;
	span_trees_fill(log, 0, 60000, true);
	spooled_begin();
	spooled_put(log, 20000);
	spooled_assemble();
	d = spooled_deliver(logs.space, spooled.spool, 0);
	expected = spooled_flatten(d, &n_expected);
	delivery_free(d);
	d = spooled_deliver(logs.space, spooled.spool, 0);
	while (at < n_expected) {
		struct chunks piece = CHUNKS_INIT;
		size_t n = delivery_lend(d, 100000, &piece);
		uint8_t copy[1000];

		n_lent += n;
		if (!n) {
			n = (size_t)delivery_read(d, copy, sizeof copy);
			chunks_append(&piece, copy, n);
		}
		ck_assert_uint_gt(n, 0);
		ck_assert_uint_le(n, 100000);
		ck_assert_uint_eq(piece.total_bytes, n);
		ck_assert(memcmp(piece.chunks[0].data, expected + at, n) == 0);
		chunks_deinit(&piece);
		at += n;
	}
	ck_assert_uint_eq(at, n_expected);
	/* Bytes in a file are not lent, but read. */
	ck_assert_int_eq(n_lent > n_expected / 2, spool_is_memory(spooled.spool));
	delivery_free(d);
	free(expected);
}
END_TEST

/*
 * The spans have the same start and the same end in a cut trace. The one that was recorded
 * later is around the others.
 */
START_TEST(an_equal_span_that_ends_later_is_outside)
{
	struct thread_log *log = log_add(1, "t");
	struct delivery *d;
	struct space *space;
	uint8_t *got;
	size_t n;

	log_put_span(log, "inner", 40, 80, 2);
	log_put_span(log, "middle", 40, 80, 1);
	log_put_span(log, "outer", 40, 80, 0);
	spooled_begin();
	log->track = track_new(spooled.spool);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(
			assembly_spool(spooled.assembly, log->track, log->slots + i, 1), 0);
	log->n_slots = 0;
	spooled_assemble();
	d = spooled_deliver(logs.space, spooled.spool, 0);
	got = spooled_flatten(d, &n);
	space = spooled_decode(got, n);
	logs.plane = space_find_plane(space, PLANE_HOST);
	ck_assert_str_eq(log_event_name(0, 0), "outer");
	ck_assert_str_eq(log_event_name(0, 1), "middle");
	ck_assert_str_eq(log_event_name(0, 2), "inner");
	space_free(space);
	delivery_free(d);
	free(got);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(gives_the_same_trace_as_memory, N_TRACES),
	UNIT_LOOP(gives_the_same_bytes_as_memory, 6),
	UNIT_TEST(is_lent_as_chunks),
	UNIT_TEST(is_lent_a_piece_at_a_time),
	UNIT_TEST(an_equal_span_that_ends_later_is_outside),
	{NULL},
};

#define CASE(name, open)                                                                          \
	{                                                                                         \
		name, .set_up = open, .tear_down = spooled_close, .timeout_s = 60, .tests = tests \
	}

static const struct unit cases[] = {
	CASE("spool", spooled_open),
	CASE("spool in memory", spooled_open_in_memory),
	CASE("spool in memory, written by another thread", spooled_open_apart),
	{NULL},
};

UNIT_MAIN_OF("spool", cases)
