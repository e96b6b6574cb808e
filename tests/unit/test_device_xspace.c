/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a collector's own trace, which comes in pieces and becomes a part of our trace. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "tests/unit/device_fixture.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/spool_fixture.h"
#include "tests/unit/unit.h"
#include "trace/xspace/xspace.h"

static struct thread_log *collector;
static struct space *own; /* the collector's */
static struct space *made; /* what a client reads */

static void setup(void)
{
	log_open();
	collector = log_add(101, "ptap-collect");
	ck_assert_int_eq(space_new(&own), 0);
	made = NULL;
}

static void teardown(void)
{
	space_free(own);
	space_free(made);
	log_close();
}

static void add(const char *plane, int64_t at, int64_t duration)
{
	struct plane *p = space_find_plane(own, plane);
	struct trace_event event = {.duration_ns = duration};

	if (!p)
		p = space_add_plane(own, (int64_t)own->n_planes, plane);
	if (!p->n_lines)
		plane_add_line(p, 7, "Stream #7", 0);
	event.start_ns = (int64_t)DEVICE_EPOCH_NS + at;
	event.name = names_intern(&p->event_names, "op", 2);
	ck_assert_int_eq(line_add_event(&p->lines[0], &event), 0);
}

/* Puts the trace of the collector |number|, in pieces of up to |n_bytes|. */
static void put_pieces(const uint8_t *bytes, size_t n, size_t n_bytes, uint8_t number)
{
	for (size_t at = 0; at < n;) {
		struct {
			struct device_entry head;
			uint8_t room[DEVICE_MAX_BLOB];
		} e = {.head = {.kind = DEVICE_XSPACE, .collector = number}};
		size_t piece = n - at < n_bytes ? n - at : n_bytes;
		size_t head = offsetof(struct device_entry, start_ns);

		e.head.correlation = piece;
		memcpy((char *)&e + head, bytes + at, piece);
		device_put_bytes(collector, NULL, &e, (uint32_t)(head + piece));
		at += piece;
	}
}

static void put_own(size_t n_bytes)
{
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;

	ck_assert_int_eq(xspace_encode(own, &out), 0);
	ck_assert_uint_eq(out.n_chunks, 1);
	put_pieces(out.chunks[0].data, out.total_bytes, n_bytes, 0);
}

static void assemble(void)
{
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;

	log_assemble();
	ck_assert_int_eq(xspace_encode(logs.space, &out), 0);
	ck_assert_uint_eq(out.n_chunks, 1);
	made = spooled_decode(out.chunks[0].data, out.chunks[0].used_bytes);
}

static const struct trace_event *find(const char *plane)
{
	const struct plane *p = space_find_plane(made, plane);

	ck_assert_msg(p, "no %s", plane);
	ck_assert_uint_eq(p->n_lines, 1);
	ck_assert_uint_gt(p->lines[0].n_events, 0);
	return &p->lines[0].events[0];
}

START_TEST(is_on_the_time_of_the_capture)
{
	static const size_t pieces[] = {1, 16, 100, DEVICE_MAX_BLOB};

	device_put_anchors(collector);
	add("/device:TPU:0", 500, 70);
	put_own(pieces[_i]);
	assemble();
	ck_assert_int_eq(find("/device:TPU:0")->start_ns, 500);
	ck_assert_int_eq(find("/device:TPU:0")->duration_ns, 70);
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
	ck_assert_int_eq(space_is_empty(logs.space), 0);
}
END_TEST

START_TEST(is_cut_at_the_start)
{
	device_put_anchors(collector);
	add("/device:TPU:0", -300, 100);
	add("/device:TPU:0", -200, 270);
	put_own(DEVICE_MAX_BLOB);
	assemble();
	ck_assert_uint_eq(space_find_plane(made, "/device:TPU:0")->lines[0].n_events, 1);
	ck_assert_int_eq(find("/device:TPU:0")->start_ns, 0);
	ck_assert_int_eq(find("/device:TPU:0")->duration_ns, 70);
}
END_TEST

/* Viewers read only one of several planes with the same name. */
START_TEST(gets_other_names_for_planes_that_exist)
{
	char name[64];

	device_put_anchors(collector);
	device_put_kernel(collector, "k", 1, 100, 200);
	add("/host:CPU", 500, 70);
	add("/device:GPU:0", 600, 70);
	add("/device:GPU:1", 700, 70);
	add("Task Environment", 800, 70);
	put_own(DEVICE_MAX_BLOB);
	assemble();
	ck_assert_int_eq(find("/device:GPU:0")->start_ns, 100);
	ck_assert_int_eq(find("/device:GPU:1")->start_ns, 700);
	snprintf(name, sizeof name, "/device:GPU:0 [%d]", (int)fixture.target.pid);
	ck_assert_int_eq(find(name)->start_ns, 600);
	snprintf(name, sizeof name, "/host:CPU [%d]", (int)fixture.target.pid);
	ck_assert_int_eq(find(name)->start_ns, 500);
	snprintf(name, sizeof name, "Task Environment [%d]", (int)fixture.target.pid);
	ck_assert_int_eq(find(name)->start_ns, 800);
}
END_TEST

START_TEST(has_its_warnings_with_it)
{
	device_put_anchors(collector);
	ck_assert_int_eq(space_add_warning(own, "the pod is on fire"), 0);
	names_intern(&own->hostnames, "elsewhere", 9);
	put_own(DEVICE_MAX_BLOB);
	assemble();
	ck_assert_str_eq(names_get(&made->warnings, 0), "the pod is on fire");
	ck_assert_uint_eq(made->hostnames.n_texts, 0);
}
END_TEST

START_TEST(is_a_warning_when_the_bytes_are_no_trace)
{
	static const uint8_t bytes[] = {0x0a, 0x7f, 1, 2, 3};

	device_put_anchors(collector);
	put_pieces(bytes, sizeof bytes, 100, 0);
	assemble();
	ck_assert(log_has_warning("gpu: a collector's own trace cannot be read: "));
	ck_assert_uint_eq(logs.space->n_parts, 0);
}
END_TEST

START_TEST(is_a_warning_without_a_clock)
{
	add("/device:TPU:0", 500, 70);
	put_own(DEVICE_MAX_BLOB);
	assemble();
	ck_assert(log_has_warning("gpu: a collector's own trace is left out"));
	ck_assert_ptr_null(space_find_plane(made, "/device:TPU:0"));
}
END_TEST

START_TEST(is_not_mixed_with_anothers)
{
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
	struct device_entry e = device_make(DEVICE_ANCHOR, 0, 0);
	const uint8_t *bytes;

	device_put_anchors(collector);
	e.collector = 1;
	e.end_ns = 777;
	device_put(collector, NULL, &e);
	add("/device:TPU:0", 500, 70);
	ck_assert_int_eq(xspace_encode(own, &out), 0);
	bytes = out.chunks[0].data;
	/* The pieces of two collectors come in turns. */
	for (size_t i = 0; i < out.total_bytes; i++) {
		put_pieces(bytes + i, 1, 1, 0);
		put_pieces(bytes + i, 1, 1, 1);
	}
	assemble();
	ck_assert_uint_eq(logs.space->n_parts, 2);
	ck_assert_uint_eq(logs.space->warnings.n_texts, 0);
}
END_TEST

START_TEST(refuses_a_piece_longer_than_it_is)
{
	struct device_entry e = {.kind = DEVICE_XSPACE, .correlation = 17};

	device_put_bytes(collector, NULL, &e, 32);
	e.correlation = UINT64_MAX;
	device_put_bytes(collector, NULL, &e, 32);
	assemble();
	ck_assert_uint_eq(log_plane_stat("ptap_lost_device_damaged"), 2);
	ck_assert_uint_eq(logs.space->n_parts, 0);
}
END_TEST

START_TEST(is_left_out_when_memory_has_no_room)
{
	struct memory_budget keep = {.max_bytes = 64 << 10};
	struct assembly *as;

	device_put_anchors(collector);
	for (int64_t i = 0; i < 5000; i++)
		add("/device:TPU:0", i * 100, 70);
	put_own(DEVICE_MAX_BLOB);
	ck_assert_int_eq(assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &as), 0);
	devices_set_keep(&as->devices, &keep);
	log_assemble_with(as);
	ck_assert_uint_eq(logs.space->n_parts, 0);
	ck_assert(log_has_warning("of devices dropped: the capture's memory was full"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(is_on_the_time_of_the_capture, 4),
	UNIT_TEST(is_cut_at_the_start),
	UNIT_TEST(gets_other_names_for_planes_that_exist),
	UNIT_TEST(has_its_warnings_with_it),
	UNIT_TEST(is_a_warning_when_the_bytes_are_no_trace),
	UNIT_TEST(is_a_warning_without_a_clock),
	UNIT_TEST(is_not_mixed_with_anothers),
	UNIT_TEST(refuses_a_piece_longer_than_it_is),
	UNIT_TEST(is_left_out_when_memory_has_no_room),
	{NULL},
};

UNIT_MAIN("device_xspace", .set_up = setup, .tear_down = teardown, .tests = tests)
