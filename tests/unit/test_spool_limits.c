/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a spool when it, the disk, the memory beside it, or the client has no room; and the places
 * for its file.
 */
#include "daemon/pipeline/assembly/spool.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/assembly.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/track.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "tests/unit/spool_fixture.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

static uint64_t count_events(const struct space *space)
{
	uint64_t n = 0;

	for (size_t i = 0; i < space->planes[0]->n_lines; i++)
		n += space->planes[0]->lines[i].n_events;
	return n;
}

/* The newest events stay, and the number of the others is reported. */
START_TEST(oldest_events_beyond_the_clients_limit_are_left_out)
{
	struct thread_log *log = log_add(1, "t");
	uint64_t max_bytes = 200000;
	unsigned long long said;
	double until_s;
	struct delivery *d;
	struct space *space;
	uint8_t *got;
	size_t n;

	for (uint64_t i = 0; i < 30000; i++)
		log_put_span(log, "span", 40 + i * 100, 80 + i * 100, 0);
	spooled_begin();
	spooled.seed = 3;
	spooled_put(log, 3000);
	spooled_assemble();
	plane_set_uint(
		space_add_plane(logs.space, 1, PLANE_ENVIRONMENT), "profile_start_time", 1000000);
	d = spooled_deliver(logs.space, spooled.spool, max_bytes);
	got = spooled_flatten(d, &n);
	ck_assert_uint_le(n, max_bytes);
	ck_assert_uint_gt(n, max_bytes / 2);
	space = spooled_decode(got, n);
	ck_assert_uint_eq(space->warnings.n_texts, 1);
	ck_assert_int_eq(
		sscanf(space->warnings.texts[0], "%llu events of the first %lf s", &said, &until_s),
		2);
	ck_assert_uint_eq(count_events(space) + said, 30000);
	n = space->planes[0]->lines[0].n_events;
	ck_assert_int_eq(space->planes[0]->lines[0].events[n - 1].start_ns, 10 + 29999 * 25);
	/*
	 * The last event that was left out ended 10 ns after its start. The
	 * next one began 15 ns later.
	 */
	ck_assert_int_eq(plane_find_int(space->planes[0], "ptap_complete_since_ns"),
		1000000 + space->planes[0]->lines[0].events[0].start_ns - 15 + 1);
	ck_assert_double_eq_tol(
		until_s, (double)space->planes[0]->lines[0].events[0].start_ns / 1e9, 0.001);
	space_free(space);
	delivery_free(d);
	free(got);
}
END_TEST

/*
 * Expects that slots spooled before |break_it| are delivered, and that the rest is counted.
 * |break_it| is called half-way.
 */
static void expect_loss(struct thread_log *log, void (*break_it)(void), const char *stat)
{
	struct delivery *d;
	struct space *space;
	uint64_t n_lost;
	uint8_t *got;
	size_t n;

	for (uint64_t i = 0; i < 30000; i++)
		log_put_span(log, "span", 40 + i * 100, 80 + i * 100, 0);
	spooled_begin();
	log->track = track_new(spooled.spool);
	ck_assert_int_eq(assembly_spool(spooled.assembly, log->track, log->slots, 15000), 0);
	break_it();
	for (size_t i = 15000; i < 30000; i += 3000)
		ck_assert_int_eq(
			assembly_spool(spooled.assembly, log->track, log->slots + i, 3000), 0);
	log->n_slots = 0;
	spooled_assemble();
	n_lost = log_plane_stat(stat);
	ck_assert_uint_eq(n_lost, log_plane_stat("dropped_traces"));
	ck_assert_uint_gt(n_lost, 0);
	d = spooled_deliver(logs.space, spooled.spool, 0);
	got = spooled_flatten(d, &n);
	space = spooled_decode(got, n);
	ck_assert_uint_eq(count_events(space) + n_lost, 30000);
	ck_assert_uint_ge(count_events(space), 15000);
	space_free(space);
	delivery_free(d);
	free(got);
}

static void limit_file_size(void)
{
	struct rlimit limit = {spool_get_bytes(spooled.spool) + 100000, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(a_disk_that_fails_ends_the_spool)
{
	expect_loss(log_add(1, "t"), limit_file_size, "ptap_lost_spool");
	ck_assert_int_eq(spool_get_error(spooled.spool), -EFBIG);
}
END_TEST

static void fill_memory(void)
{
	spooled.keep.max_bytes = spooled.keep.used_bytes + 2 * sizeof(struct track_run);
}

START_TEST(memory_that_is_full_ends_the_spool)
{
	expect_loss(log_add(1, "t"), fill_memory, "ptap_lost_spool");
}
END_TEST

static void nothing(void)
{
}

START_TEST(a_spool_has_its_size)
{
	struct diag d = DIAG_INIT;

	spool_release(spooled.spool);
	if (_i)
		ck_assert_int_eq(spool_new_in_memory(250000, &spooled.spool), 0);
	else
		ck_assert_int_eq(spool_new("/tmp", 250000, &spooled.spool, &d), 0);
	expect_loss(log_add(1, "t"), nothing, "ptap_lost_spool");
	ck_assert_int_eq(spool_get_error(spooled.spool), -ENOBUFS);
	ck_assert_uint_le(spool_get_bytes(spooled.spool), 250000);
}
END_TEST

START_TEST(a_spool_in_memory_takes_bytes_of_its_own_room)
{
	struct spool *s = NULL;
	struct chunks *room;
	uint64_t offset = 7;

	ck_assert_int_eq(spool_new_in_memory(4096, &s), 0);
	chunks_append(spool_get_room(s, SIZE_MAX), "abc", 3);
	ck_assert_int_eq(spool_append(s, spool_get_room(s, SIZE_MAX), &offset), 0);
	ck_assert_uint_eq(spool_get_bytes(s), 0);
	room = spool_get_room(s, SIZE_MAX);
	chunks_append(room, "abc", 3);
	ck_assert_int_eq(spool_append(s, room, &offset), 0);
	ck_assert_ptr_eq(spool_find(s, offset), spool_map(s));
	ck_assert_uint_eq(spool_get_bytes(s), 3);
	ck_assert_int_eq(memcmp(spool_map(s), "abc", 3), 0);
	/* This asks for too much, so the room is elsewhere. */
	room = spool_get_room(s, SIZE_MAX);
	ck_assert_ptr_nonnull(chunks_reserve(room, 5000));
	chunks_commit(room, 3);
	ck_assert_int_eq(spool_append(s, room, &offset), -ENOBUFS);
	ck_assert_uint_eq(spool_get_bytes(s), 3);
	spool_release(s);
}
END_TEST

/*
 * Spools the slots of |log| in two parts, delivers them, and reads them. The caller frees the
 * space.
 */
static struct space *spool_and_read(struct thread_log *log, size_t first_slots)
{
	struct delivery *d;
	struct space *space;
	uint8_t *got;
	size_t n;

	spooled_begin();
	log->track = track_new(spooled.spool);
	ck_assert_int_eq(assembly_spool(spooled.assembly, log->track, log->slots, first_slots), 0);
	ck_assert_int_eq(assembly_spool(spooled.assembly, log->track, log->slots + first_slots,
				 log->n_slots - first_slots),
		0);
	log->n_slots = 0;
	spooled_assemble();
	d = spooled_deliver(logs.space, spooled.spool, 0);
	got = spooled_flatten(d, &n);
	space = spooled_decode(got, n);
	delivery_free(d);
	free(got);
	return space;
}

START_TEST(new_names_beyond_the_share_are_left_out_and_their_spans_are_not)
{
	struct thread_log *log = log_add(1, "t");
	struct space *space;

	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof name, "name %u", i);
		log_put(log, RECORD_SPAN, STRING_ID_DYNAMIC, 40 + i * 100, 40, 0, 1);
		log_put_text(log, 0, SLOT_NAME, name);
	}
	log_put_span(log, "a name of the program's table", 200000, 200040, 0);
	spooled.keep.max_bytes = 20000;
	space = spool_and_read(log, 400);
	ck_assert_uint_eq(count_events(space), 1001);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	/* Half of |max_bytes| has room for them. */
	ck_assert_uint_lt(logs.plane->event_names.n_texts, 200);
	ck_assert_uint_gt(logs.plane->event_names.n_texts, 100);
	ck_assert_uint_eq(
		log_plane_stat("ptap_left_out_texts") + logs.plane->event_names.n_texts, 1000 + 2);
	ck_assert_uint_ne(names_find(&logs.plane->event_names, "\u2026"), NAMES_NONE);
	ck_assert_uint_ne(
		names_find(&logs.plane->event_names, "a name of the program's table"), NAMES_NONE);
	ck_assert(log_has_warning("with an ellipsis in their place: others had filled the"));
	space_free(space);
}
END_TEST

static const char *find_text(const struct plane *plane, size_t i, const char *key)
{
	const struct trace_stat *stat = plane_find_stat(
		plane, &plane->lines[0].events[i], names_find(&plane->stat_names, key));

	ck_assert_ptr_nonnull(stat);
	ck_assert_int_eq(stat->type, STAT_STRING);
	return names_get(&plane->stat_names, stat->value.string);
}

START_TEST(values_beyond_the_share_leave_with_their_events)
{
	struct thread_log *log = log_add(1, "t");
	uint32_t name = fixture_add_string("span");
	uint32_t key = fixture_add_string("request");
	struct space *space;

	for (unsigned i = 0; i < 3000; i++) {
		char text[40];

		snprintf(text, sizeof text, "0123456789-abcdefghijklmnopq-%u", 10000 + i);
		log_put(log, RECORD_SPAN, name, 40 + i * 100, 40, 0, slot_count_for_text(34));
		log_put_text(log, key, SLOT_TEXT, text);
	}
	spooled.keep.max_bytes = 20000;
	space = spool_and_read(log, 400);
	ck_assert_uint_eq(count_events(space), 3000);
	ck_assert_uint_eq(log_plane_stat("dropped_traces"), 0);
	ck_assert_uint_eq(log_plane_stat("ptap_left_out_texts"), 0);
	ck_assert_uint_lt(logs.plane->stat_names.n_texts, 100);
	ck_assert_uint_lt(spooled.keep.used_bytes, 10000);
	for (unsigned i = 0; i < 3000; i++) {
		char text[40];

		snprintf(text, sizeof text, "0123456789-abcdefghijklmnopq-%u", 10000 + i);
		ck_assert_str_eq(find_text(space->planes[0], i, "request"), text);
	}
	space_free(space);
}
END_TEST

START_TEST(a_bad_directory_is_reported)
{
	struct diag d = DIAG_INIT;
	struct spool *none = NULL;

	ck_assert_int_eq(spool_new("/proc/nowhere", 1000, &none, &d), -ENOENT);
	ck_assert_ptr_nonnull(strstr(d.text, "/proc/nowhere: "));
	ck_assert_ptr_null(none);
}
END_TEST

START_TEST(a_directory_in_memory_is_the_last_choice)
{
	struct diag d = DIAG_INIT;
	struct spool *s = NULL;

	setenv("TMPDIR", "/dev/shm", 1);
	ck_assert_int_eq(spool_new(NULL, 1000, &s, &d), 0);
	ck_assert_str_ne(spool_get_dir(s), "/dev/shm");
	spool_release(s);
	setenv("TMPDIR", "relative", 1);
	ck_assert_int_eq(spool_new(NULL, 1000, &s, &d), 0);
	spool_release(s);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(oldest_events_beyond_the_clients_limit_are_left_out),
	UNIT_TEST(a_disk_that_fails_ends_the_spool),
	UNIT_TEST(memory_that_is_full_ends_the_spool),
	UNIT_LOOP(a_spool_has_its_size, 2),
	UNIT_TEST(a_spool_in_memory_takes_bytes_of_its_own_room),
	UNIT_TEST(new_names_beyond_the_share_are_left_out_and_their_spans_are_not),
	UNIT_TEST(values_beyond_the_share_leave_with_their_events),
	UNIT_TEST(a_bad_directory_is_reported),
	UNIT_TEST(a_directory_in_memory_is_the_last_choice),
	{NULL},
};

UNIT_MAIN("spool_limits", .set_up = spooled_open, .tear_down = spooled_close, .timeout_s = 60,
	.tests = tests)
