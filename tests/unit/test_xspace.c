/* SPDX-License-Identifier: Apache-2.0 */
/* Tests cases beyond the golden files: foreign and broken bytes, and limits of the wire format. */
#include "trace/xspace/xspace.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "base/utf8.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"
#include "trace/xspace/pbwire.h"

/* A message that a test writes by hand. */
struct bytes {
	uint8_t data[1024];
	size_t n;
};

static void put_uint(struct bytes *b, uint32_t number, uint64_t value)
{
	b->n = (size_t)(pb_put_uint(b->data + b->n, number, value) - b->data);
}

static void put_len(struct bytes *b, uint32_t number, const void *data, size_t n)
{
	uint8_t *p = pb_put_varint(b->data + b->n, PB_TAG(number, PB_LEN));

	p = pb_put_varint(p, n);
	memcpy(p, data, n);
	b->n = (size_t)(p + n - b->data);
}

static void put_text(struct bytes *b, uint32_t number, const char *text)
{
	put_len(b, number, text, strlen(text));
}

static void put_message(struct bytes *b, uint32_t number, const struct bytes *message)
{
	put_len(b, number, message->data, message->n);
}

static void put_metadata(struct bytes *b, uint32_t number, int64_t id, const char *name)
{
	struct bytes value = {.n = 0};
	struct bytes entry = {.n = 0};

	put_uint(&value, 1, (uint64_t)id);
	put_text(&value, 2, name);
	put_uint(&entry, 1, (uint64_t)id);
	put_message(&entry, 2, &value);
	put_message(b, number, &entry);
}

static void put_event(struct bytes *b, int64_t id, int64_t offset_ps, int64_t duration_ps)
{
	struct bytes event = {.n = 0};

	put_uint(&event, 1, (uint64_t)id);
	put_uint(&event, 2, (uint64_t)offset_ps);
	put_uint(&event, 3, (uint64_t)duration_ps);
	put_message(b, 4, &event);
}

/* Returns the only plane that |plane_bytes| decode to. */
static const struct plane *decode_plane(const struct bytes *plane_bytes, struct space **space)
{
	struct diag d = DIAG_INIT;
	struct bytes b = {.n = 0};

	put_message(&b, 1, plane_bytes);
	ck_assert_msg(xspace_decode(b.data, b.n, space, &d) == 0, "%s", d.text);
	ck_assert_uint_eq((*space)->n_planes, 1);
	return (*space)->planes[0];
}

static const char *event_name(const struct plane *plane, size_t i)
{
	return names_get(&plane->event_names, plane->lines[0].events[i].name);
}

START_TEST(varints_have_the_promised_size)
{
	uint8_t buffer[PB_VARINT_MAX_BYTES];

	for (unsigned int bit = 0; bit < 64; bit++) {
		for (int around = -1; around <= 1; around++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)around;
			size_t n = (size_t)(pb_put_varint(buffer, value) - buffer);
			struct pb_reader r = pb_reader(buffer, n);
			uint64_t back;

			ck_assert_uint_eq(n, pb_varint_size(value));
			ck_assert_int_eq(pb_get_varint(&r, &back), 0);
			ck_assert_uint_eq(back, value);
			r = pb_reader(buffer, n - 1);
			ck_assert_int_eq(pb_get_varint(&r, &back), -EBADMSG);
		}
	}
}
END_TEST

static void expect_wide_by(uint64_t value, enum pb_means means)
{
	uint8_t wide[PB_VARINT_MAX_BYTES];
	uint8_t plain[PB_VARINT_MAX_BYTES];
	size_t n = (size_t)(pb_put_varint(plain, value) - plain);

	ck_assert_uint_eq((size_t)(pb_put_wide_varint(wide, value, means) - wide), n);
	ck_assert_mem_eq(wide, plain, n);
}

static void expect_wide(uint64_t value)
{
	expect_wide_by(value, PB_SHIFTS);
	expect_wide_by(value, pb_find_means());
}

START_TEST(wide_varints_are_varints)
{
	srand(1);
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t most = UINT64_MAX >> (63 - bit);

		expect_wide(most);
		expect_wide(most ^ most >> 1);
		for (int i = 0; i < 100; i++)
			expect_wide(most & ((uint64_t)rand() << 33 ^ (uint64_t)rand() << 15 ^
						   (uint64_t)rand()));
	}
	expect_wide(0);
}
END_TEST

START_TEST(padded_lengths_read_as_lengths)
{
	static const uint64_t values[] = {0, 1, 127, 128, 1u << 20, UINT32_MAX};
	uint8_t buffer[PB_PADDED_BYTES];

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct pb_reader r = pb_reader(buffer, sizeof buffer);
		uint64_t back;

		pb_put_padded(buffer, values[i]);
		ck_assert_int_eq(pb_get_varint(&r, &back), 0);
		ck_assert_uint_eq(back, values[i]);
		ck_assert_ptr_eq(r.p, r.end);
	}
}
END_TEST

START_TEST(utf8_is_checked_as_the_rfc_requires)
{
	char clean[8] = "";

	ck_assert_uint_eq(utf8_length("a", 1), 1);
	ck_assert_uint_eq(utf8_length("\xc3\xa9", 2), 2);
	ck_assert_uint_eq(utf8_length("\xe2\x82\xac", 3), 3);
	ck_assert_uint_eq(utf8_length("\xf0\x9f\x98\x80", 4), 4);
	ck_assert_uint_eq(utf8_length("\xc0\xaf", 2), 0);
	ck_assert_uint_eq(utf8_length("\xed\xa0\x80", 3), 0);
	ck_assert_uint_eq(utf8_length("\xf4\x90\x80\x80", 4), 0);
	ck_assert_uint_eq(utf8_length("\xe2\x82", 2), 0);
	utf8_copy(clean, "\xe2\x82x\xff\xc3\xa9", 6);
	ck_assert_str_eq(clean, "??x?\xc3\xa9");
}
END_TEST

START_TEST(metadata_may_come_last)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes line = {.n = 0};
	struct space *space;
	const struct plane *plane;

	put_event(&line, 1, 5000, 2000);
	put_text(&line, 2, "main");
	put_message(&plane_bytes, 3, &line);
	put_metadata(&plane_bytes, 4, 1, "work");
	put_text(&plane_bytes, 2, "/host:CPU");
	plane = decode_plane(&plane_bytes, &space);
	ck_assert_str_eq(plane->name, "/host:CPU");
	ck_assert_str_eq(plane->lines[0].name, "main");
	ck_assert_str_eq(event_name(plane, 0), "work");
	ck_assert_int_eq(plane->lines[0].events[0].start_ns, 5);
	ck_assert_int_eq(plane->lines[0].events[0].duration_ns, 2);
	space_free(space);
}
END_TEST

START_TEST(ids_may_be_sparse_negative_or_unknown)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes line = {.n = 0};
	struct space *space;
	const struct plane *plane;

	put_metadata(&plane_bytes, 4, INT64_MAX, "huge");
	put_metadata(&plane_bytes, 4, -3, "negative");
	put_metadata(&plane_bytes, 4, 7, "old");
	put_metadata(&plane_bytes, 4, 7, "new");
	put_event(&line, 7, 1000, 0);
	put_event(&line, -3, 2000, 0);
	put_event(&line, INT64_MAX, 3000, 0);
	put_event(&line, 8, 4000, 0);
	put_message(&plane_bytes, 3, &line);
	plane = decode_plane(&plane_bytes, &space);
	ck_assert_str_eq(event_name(plane, 0), "new");
	ck_assert_str_eq(event_name(plane, 1), "negative");
	ck_assert_str_eq(event_name(plane, 2), "huge");
	ck_assert_str_eq(event_name(plane, 3), "?8");
	space_free(space);
}
END_TEST

START_TEST(line_timestamps_are_added_and_ends_rounded_alike)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes line = {.n = 0};
	struct space *space;
	const struct trace_event *events;

	put_uint(&line, 3, 1767225600000000000);
	put_event(&line, 1, 600, 900);
	put_event(&line, 1, 800, 700);
	put_message(&plane_bytes, 3, &line);
	events = decode_plane(&plane_bytes, &space)->lines[0].events;
	/* [600, 1500) and [800, 1500) ps: both end at 2 ns, so the inner one stays inside. */
	ck_assert_int_eq(events[0].start_ns, 1767225600000000001);
	ck_assert_int_eq(events[0].duration_ns, 1);
	ck_assert_int_eq(events[1].start_ns, 1767225600000000001);
	ck_assert_int_eq(events[1].duration_ns, 1);
	space_free(space);
}
END_TEST

START_TEST(times_beyond_the_range_are_held_at_its_ends)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes line = {.n = 0};
	struct space *space;
	const struct trace_event *event;

	put_uint(&line, 3, INT64_MAX);
	put_event(&line, 1, INT64_MAX, -1);
	put_message(&plane_bytes, 3, &line);
	event = &decode_plane(&plane_bytes, &space)->lines[0].events[0];
	ck_assert_int_eq(event->start_ns, INT64_MAX);
	ck_assert_int_eq(event->duration_ns, 0);
	space_free(space);
}
END_TEST

START_TEST(events_are_sorted)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes line = {.n = 0};
	struct space *space;
	const struct trace_event *events;

	put_event(&line, 1, 9000, 1000);
	put_event(&line, 1, 1000, 1000);
	put_event(&line, 1, 1000, 5000);
	put_message(&plane_bytes, 3, &line);
	events = decode_plane(&plane_bytes, &space)->lines[0].events;
	ck_assert_int_eq(events[0].duration_ns, 5);
	ck_assert_int_eq(events[1].duration_ns, 1);
	ck_assert_int_eq(events[2].start_ns, 9);
	space_free(space);
}
END_TEST

START_TEST(aggregated_events_are_counted_in_a_warning)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes line = {.n = 0};
	struct bytes event = {.n = 0};
	struct space *space;
	const struct plane *plane;

	put_uint(&event, 1, 1);
	put_uint(&event, 5, 12);
	put_message(&line, 4, &event);
	put_event(&line, 1, 1000, 1000);
	put_message(&plane_bytes, 3, &line);
	plane = decode_plane(&plane_bytes, &space);
	ck_assert_uint_eq(plane->lines[0].n_events, 1);
	ck_assert_ptr_nonnull(strstr(names_get(&space->warnings, 0), "1 aggregated event"));
	space_free(space);
}
END_TEST

START_TEST(every_member_of_a_stat_is_read)
{
	struct bytes plane_bytes = {.n = 0};
	struct bytes stat = {.n = 0};
	struct space *space;
	const struct plane *plane;
	const struct trace_stat *stats;

	put_metadata(&plane_bytes, 5, 1, "text");
	for (uint32_t member = 3; member <= 7; member++) {
		stat.n = 0;
		put_uint(&stat, 1, 1);
		if (member == 5 || member == 6)
			put_text(&stat, member, "bytes");
		else
			put_uint(&stat, member, member == 7 ? 1 : UINT64_MAX);
		put_message(&plane_bytes, 6, &stat);
	}
	plane = decode_plane(&plane_bytes, &space);
	stats = plane->plane_stats;
	ck_assert_uint_eq(plane->n_plane_stats, 5);
	ck_assert_uint_eq(stats[0].type, STAT_UINT64);
	ck_assert_uint_eq(stats[0].value.u64, UINT64_MAX);
	ck_assert_uint_eq(stats[1].type, STAT_INT64);
	ck_assert_int_eq(stats[1].value.i64, -1);
	ck_assert_uint_eq(stats[2].type, STAT_STRING);
	ck_assert_str_eq(names_get(&plane->stat_names, stats[2].value.string), "bytes");
	ck_assert_uint_eq(stats[3].type, STAT_BYTES);
	ck_assert_uint_eq(plane->blobs[stats[3].value.bytes].n_bytes, 5);
	ck_assert_uint_eq(stats[4].type, STAT_STRING);
	ck_assert_str_eq(names_get(&plane->stat_names, stats[4].value.string), "text");
	space_free(space);
}
END_TEST

START_TEST(unknown_fields_are_skipped)
{
	struct bytes plane_bytes = {.n = 0};
	struct space *space;

	put_text(&plane_bytes, 1000, "from the future");
	put_uint(&plane_bytes, 99, 5);
	put_text(&plane_bytes, 2, "p");
	ck_assert_str_eq(decode_plane(&plane_bytes, &space)->name, "p");
	space_free(space);
}
END_TEST

START_TEST(bad_bytes_are_named_with_their_offset)
{
	static const uint8_t bytes[] = {0x0a, 0x04, 0x12, 0x7f, 'a', 'b'};
	struct space *space = NULL;
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(xspace_decode(bytes, sizeof bytes, &space, &d), -EBADMSG);
	ck_assert_int_eq(d.code, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(d.text, "byte 3"));
	ck_assert_ptr_nonnull(strstr(d.text, "a length goes beyond the end"));
	ck_assert_ptr_null(space);
	ck_assert_int_eq(xspace_decode(bytes, sizeof bytes, &space, NULL), -EBADMSG);
}
END_TEST

START_TEST(no_bytes_are_an_empty_space)
{
	struct space *space;

	ck_assert_int_eq(xspace_decode(NULL, 0, &space, NULL), 0);
	ck_assert_uint_eq(space->n_planes, 0);
	space_free(space);
}
END_TEST

START_TEST(lengths_are_right_across_chunks)
{
	struct chunks out = CHUNKS_INIT;
	struct space *space;
	struct space *again;
	struct plane *plane;
	struct line *line;
	uint8_t *bytes;
	size_t n = 0;

	ck_assert_int_eq(space_new(&space), 0);
	plane = space_add_plane(space, 1, PLANE_HOST);
	line = plane_add_line(plane, 5, "main", 0);
	names_intern(&plane->event_names, "a", 1);
	for (int i = 0; i < 300000; i++) {
		struct trace_event event = {
			.start_ns = i * 1000L, .duration_ns = 900, .is_span = 1};

		ck_assert_int_eq(line_add_event(line, &event), 0);
	}
	ck_assert_int_eq(xspace_encode(space, &out), 0);
	ck_assert_uint_gt(out.n_chunks, 2);
	bytes = malloc(out.total_bytes);
	for (size_t i = 0; i < out.n_chunks; n += out.chunks[i++].used_bytes)
		memcpy(bytes + n, out.chunks[i].data, out.chunks[i].used_bytes);
	ck_assert_int_eq(xspace_decode(bytes, n, &again, NULL), 0);
	ck_assert_uint_eq(again->planes[0]->lines[0].n_events, 300000);
	ck_assert_mem_eq(
		again->planes[0]->lines[0].events, line->events, 300000 * sizeof *line->events);
	free(bytes);
	chunks_deinit(&out);
	space_free(again);
	space_free(space);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(varints_have_the_promised_size),
	UNIT_TEST(wide_varints_are_varints),
	UNIT_TEST(padded_lengths_read_as_lengths),
	UNIT_TEST(utf8_is_checked_as_the_rfc_requires),
	UNIT_TEST(metadata_may_come_last),
	UNIT_TEST(ids_may_be_sparse_negative_or_unknown),
	UNIT_TEST(line_timestamps_are_added_and_ends_rounded_alike),
	UNIT_TEST(times_beyond_the_range_are_held_at_its_ends),
	UNIT_TEST(events_are_sorted),
	UNIT_TEST(aggregated_events_are_counted_in_a_warning),
	UNIT_TEST(every_member_of_a_stat_is_read),
	UNIT_TEST(unknown_fields_are_skipped),
	UNIT_TEST(bad_bytes_are_named_with_their_offset),
	UNIT_TEST(no_bytes_are_an_empty_space),
	UNIT_TEST(lengths_are_right_across_chunks),
	{NULL},
};

UNIT_MAIN("xspace", .tests = tests)
