/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the bytes put into a sink come out of its descriptor: bytes of any amount, numbers,
 * and texts in JSON and CSV.
 */
#include "trace/codec/sink.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/unit.h"
#include "trace/codec/arg_json.h"
#include "trace/read/cursor.h"

#define TEXT(literal) literal, sizeof(literal) - 1

static FILE *file;
static struct sink sink;
static char written[4096];

static void set_up(void)
{
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(sink_init(&sink, fileno(file), 0), 0);
}

static void tear_down(void)
{
	sink_deinit(&sink);
	fclose(file);
}

/* Returns all that was written so far. The next call returns only what comes after it. */
static const char *take(void)
{
	ssize_t n;

	ck_assert_int_eq(sink_finish(&sink), 0);
	n = pread(fileno(file), written, sizeof written - 1, 0);
	ck_assert_int_ge(n, 0);
	written[n] = '\0';
	ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
	ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
	return written;
}

/* A sink in memory gets several amounts of bytes, and is cleared after each one. */
START_TEST(keeps_all_bytes_in_memory)
{
	struct sink memory;
	const uint8_t *data;
	size_t n;

	ck_assert_int_eq(sink_init_memory(&memory), 0);
	for (int round = 0; round < 2; round++) {
		for (size_t n_bytes = 5; n_bytes < 4 * SINK_BYTES; n_bytes += SINK_BYTES) {
			for (size_t i = 0; i < n_bytes; i++)
				sink_put(&memory, (char)('a' + i % 26));
			data = sink_get_memory(&memory, &n);
			ck_assert_ptr_nonnull(data);
			ck_assert_uint_eq(n, n_bytes);
			if (data[0] != 'a' || data[n - 1] != 'a' + (n - 1) % 26)
				ck_abort_msg("%zu bytes differ at an end", n);
			sink_clear_memory(&memory);
		}
	}
	sink_deinit(&memory);
}
END_TEST

/* --- bytes --------------------------------------------------------------------------------- */

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + i / 257);
}

/* Writes more than the buffer holds, in pieces of all kinds. */
static size_t fill(void)
{
	size_t n = 0;

	for (size_t size = 1; n < 3 * SINK_BYTES; size = size * 7 % 70001) {
		uint8_t *data = malloc(size);

		for (size_t i = 0; i < size; i++)
			data[i] = byte_at(n + i);
		sink_write(&sink, data, size);
		free(data);
		n += size;
		sink_put(&sink, (char)byte_at(n++));
		*sink_reserve(&sink, 100) = byte_at(n++);
		sink_commit(&sink, 1);
	}
	ck_assert_uint_eq(sink.n_bytes, n);
	return n;
}

START_TEST(bytes_come_out_in_order)
{
	size_t n = fill();
	uint8_t *data = malloc(n);

	ck_assert_int_eq(sink_finish(&sink), 0);
	ck_assert_uint_eq(sink.n_written, n);
	ck_assert_int_eq(pread(fileno(file), data, n, 0), (ssize_t)n);
	while (n > 0 && data[n - 1] == byte_at(n - 1))
		n--;
	ck_assert_uint_eq(n, 0);
	free(data);
}
END_TEST

START_TEST(gzip_unpacks_to_the_same)
{
	size_t i = 0;
	size_t n;
	gzFile in;

	sink_deinit(&sink);
	ck_assert_int_eq(sink_init(&sink, fileno(file), SINK_GZIP), 0);
	n = fill();
	ck_assert_int_eq(sink_finish(&sink), 0);
	ck_assert_int_eq(lseek(fileno(file), 0, SEEK_END), (off_t)sink.n_written);
	ck_assert_int_eq(lseek(fileno(file), 0, SEEK_SET), 0);
	in = gzdopen(dup(fileno(file)), "rb");
	while (i < n && gzgetc(in) == byte_at(i))
		i++;
	ck_assert_uint_eq(i, n);
	ck_assert_int_eq(gzgetc(in), -1);
	ck_assert_int_eq(gzclose(in), Z_OK);
}
END_TEST

/* This stream is for code that uses printf(). */
START_TEST(a_stream_writes_into_the_sink)
{
	FILE *stream = sink_open_stream(&sink);

	ck_assert_ptr_nonnull(stream);
	sink_text(&sink, "before ");
	fprintf(stream, "%d of %s", 7, "them");
	ck_assert_int_eq(fclose(stream), 0);
	sink_text(&sink, " and after");
	ck_assert_str_eq(take(), "before 7 of them and after");
}
END_TEST

START_TEST(a_stream_fails_with_the_sink)
{
	FILE *stream = sink_open_stream(&sink);

	sink.error = -ENOSPC;
	fputs("lost", stream);
	ck_assert_int_eq(fflush(stream), EOF);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(stream);
}
END_TEST

START_TEST(an_error_stays)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	sink.fd = full;
	sink_text(&sink, "x");
	ck_assert_int_eq(sink.error, 0);
	sink_flush(&sink);
	ck_assert_int_eq(sink.error, -ENOSPC);
	sink.fd = fileno(file);
	sink_text(&sink, "y");
	ck_assert_int_eq(sink_finish(&sink), -ENOSPC);
	ck_assert_uint_eq(sink.n_written, 0);
	close(full);
}
END_TEST

/* --- numbers ------------------------------------------------------------------------------- */

START_TEST(integers_have_all_their_digits)
{
	sink_int(&sink, INT64_MIN);
	sink_put(&sink, ' ');
	sink_int(&sink, INT64_MAX);
	sink_put(&sink, ' ');
	sink_int(&sink, 0);
	sink_put(&sink, ' ');
	sink_uint(&sink, UINT64_MAX);
	ck_assert_str_eq(take(), "-9223372036854775808 9223372036854775807 0 18446744073709551615");
}
END_TEST

START_TEST(microseconds_have_three_decimals)
{
	static const int64_t times_ns[] = {0, 7, -7, 999, 1000, -12007, INT64_MIN, INT64_MAX};

	for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
		sink_micros(&sink, times_ns[i]);
		sink_put(&sink, ' ');
	}
	ck_assert_str_eq(take(), "0.000 0.007 -0.007 0.999 1.000 -12.007 -9223372036854775.808 "
				 "9223372036854775.807 ");
}
END_TEST

START_TEST(doubles_read_back_as_they_were)
{
	static const double values[] = {
		0.1, 1.0 / 3, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0};

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		double back;

		sink_double(&sink, values[i]);
		back = strtod(take(), NULL);
		ck_assert(memcmp(&back, &values[i], sizeof back) == 0);
	}
	sink_double(&sink, 0.1);
	ck_assert_str_eq(take(), "0.1");
}
END_TEST

/* --- texts --------------------------------------------------------------------------------- */

START_TEST(json_escapes_quotes_and_control_characters)
{
	sink_json(&sink, TEXT("a\"b\\c\n\r\t\x01\x1f\x7f\0é€\U0001f600"));
	ck_assert_str_eq(
		take(), "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001f\\u007f\\u0000é€\U0001f600\"");
}
END_TEST

START_TEST(broken_characters_are_replaced_one_by_one)
{
	static const char broken[] = "\xff\xc3(\xe2\x82\xc0\xaf\xed\xa0\x80\xf5.\xc3";

	sink_json(&sink, TEXT(broken));
	ck_assert_str_eq(take(), "\"\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd."
				 "\ufffd\"");
	sink_csv(&sink, TEXT("a\xff"));
	ck_assert_str_eq(take(), "\"a\ufffd\"");
}
END_TEST

START_TEST(plain_text_has_the_length_that_was_said)
{
	static const char text[] = "a\n\xff\xc3é\xc3";

	sink_utf8(&sink, TEXT(text));
	ck_assert_str_eq(take(), "a\n\ufffd\ufffdé\ufffd");
	ck_assert_uint_eq(sink_utf8_length(TEXT(text)), strlen(written));
	ck_assert_uint_eq(sink_utf8_length("", 0), 0);
}
END_TEST

START_TEST(csv_quotes_only_where_it_must)
{
	sink_csv(&sink, TEXT("plain text"));
	sink_put(&sink, ',');
	sink_csv(&sink, TEXT(""));
	sink_put(&sink, ',');
	sink_csv(&sink, TEXT("a,b"));
	sink_put(&sink, ',');
	sink_csv(&sink, TEXT("say \"x\""));
	sink_put(&sink, ',');
	sink_csv(&sink, TEXT("two\r\nlines"));
	sink_put(&sink, ',');
	sink_csv(&sink, TEXT(" edge"));
	ck_assert_str_eq(
		take(), "plain text,,\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\",\" edge\"");
}
END_TEST

/* --- arguments ----------------------------------------------------------------------------- */

static struct item_arg number(enum stat_type type, uint64_t bits)
{
	return (struct item_arg){.key = "n", .type = type, .value.u64 = bits};
}

static struct item_arg bytes(enum stat_type type, const char *text, size_t n)
{
	return (struct item_arg){.key = "t", .type = type, .text = text, .n_bytes = n};
}

static const char *value_of(struct item_arg arg)
{
	arg_json_value(&sink, &arg);
	return take();
}

START_TEST(arguments_are_values_of_their_type)
{
	struct item_arg nan = {.key = "n", .type = STAT_DOUBLE, .value.f64 = NAN};

	ck_assert_str_eq(value_of(number(STAT_INT64, UINT64_MAX)), "-1");
	ck_assert_str_eq(value_of(number(STAT_UINT64, UINT64_MAX)), "18446744073709551615");
	ck_assert_str_eq(value_of(nan), "\"nan\"");
	nan.value.f64 = -INFINITY;
	ck_assert_str_eq(value_of(nan), "\"-inf\"");
	nan.value.f64 = 0.5;
	ck_assert_str_eq(value_of(nan), "0.5");
	ck_assert_str_eq(value_of(bytes(STAT_STRING, TEXT("\"\xff"))), "\"\\\"\ufffd\"");
	ck_assert_str_eq(value_of(bytes(STAT_BYTES, "", 0)), "\"\"");
	ck_assert_str_eq(value_of(bytes(STAT_BYTES, TEXT("\xfb\xff"))), "\"+/8=\"");
	ck_assert_str_eq(value_of(bytes(STAT_BYTES, TEXT("\x01"))), "\"AQ==\"");
	ck_assert_str_eq(value_of(bytes(STAT_BYTES, TEXT("foobar"))), "\"Zm9vYmFy\"");
}
END_TEST

START_TEST(viewers_get_integers_that_are_too_wide_as_texts)
{
	struct item_arg args[] = {number(STAT_UINT64, INT64_MAX),
		number(STAT_UINT64, (uint64_t)INT64_MAX + 1), number(STAT_INT64, UINT64_MAX)};
	struct item item = {.args = args, .n_args = 3};

	arg_json_object(&sink, &item, arg_json_viewer_value);
	ck_assert_str_eq(
		take(), "{\"n\":9223372036854775807,\"n\":\"9223372036854775808\",\"n\":-1}");
	item.n_args = 0;
	arg_json_object(&sink, &item, arg_json_value);
	ck_assert_str_eq(take(), "{}");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(keeps_all_bytes_in_memory),
	UNIT_TEST(bytes_come_out_in_order),
	UNIT_TEST(gzip_unpacks_to_the_same),
	UNIT_TEST(an_error_stays),
	UNIT_TEST(integers_have_all_their_digits),
	UNIT_TEST(microseconds_have_three_decimals),
	UNIT_TEST(doubles_read_back_as_they_were),
	UNIT_TEST(json_escapes_quotes_and_control_characters),
	UNIT_TEST(broken_characters_are_replaced_one_by_one),
	UNIT_TEST(plain_text_has_the_length_that_was_said),
	UNIT_TEST(a_stream_writes_into_the_sink),
	UNIT_TEST(a_stream_fails_with_the_sink),
	UNIT_TEST(csv_quotes_only_where_it_must),
	UNIT_TEST(arguments_are_values_of_their_type),
	UNIT_TEST(viewers_get_integers_that_are_too_wide_as_texts),
	{NULL},
};

UNIT_MAIN("sink", .set_up = set_up, .tear_down = tear_down, .tests = tests)
