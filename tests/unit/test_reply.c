/* SPDX-License-Identifier: Apache-2.0 */
#include "client/answer/reply.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static char got[256];
static size_t n_got;

static int collect(const uint8_t *data, size_t n, void *context)
{
	(void)context;
	ck_assert_uint_le(n_got + n, sizeof got);
	memcpy(got + n_got, data, n);
	n_got += n;
	return 0;
}

static int fail_write(const uint8_t *data, size_t n, void *context)
{
	(void)data;
	(void)n;
	(void)context;
	return -ENOSPC;
}

/* Feeds |bytes| in pieces of |n_piece|. */
static int feed(struct reply *r, const char *bytes, size_t n, size_t n_piece)
{
	*r = (struct reply)REPLY_INIT(collect, NULL);
	n_got = 0;
	for (size_t i = 0; i < n; i += n_piece) {
		size_t n_now = n - i < n_piece ? n - i : n_piece;
		int error = reply_feed((const uint8_t *)bytes + i, n_now, r);

		if (error)
			return error;
	}
	return reply_end(r);
}

#define EXPECT(bytes, empty, has, text) expect(bytes, sizeof bytes - 1, empty, has, text)
#define REFUSE(bytes) refuse(bytes, sizeof bytes - 1)

/* Whatever the pieces are, the result is the same. */
static void expect(const char *bytes, size_t n, bool is_empty, bool has, const char *text)
{
	for (size_t n_piece = 1; n_piece <= n + 1; n_piece++) {
		struct reply r;

		ck_assert_int_eq(feed(&r, bytes, n, n_piece), 0);
		ck_assert_int_eq(r.is_empty_trace, is_empty);
		ck_assert_int_eq(r.has_xspace, has);
		ck_assert_uint_eq(r.xspace_bytes, strlen(text));
		ck_assert_uint_eq(n_got, strlen(text));
		ck_assert_mem_eq(got, text, n_got);
	}
}

static void refuse(const char *bytes, size_t n)
{
	for (size_t n_piece = 1; n_piece <= n + 1; n_piece++) {
		struct reply r;

		ck_assert_int_eq(feed(&r, bytes, n, n_piece), -EBADMSG);
	}
}

START_TEST(reads_xspace)
{
	EXPECT("\x42\x03"
	       "abc",
		false, true, "abc");
	EXPECT("\x42\x00", false, true, "");
	EXPECT("", false, false, "");
}
END_TEST

START_TEST(joins_xspace_that_comes_in_parts)
{
	EXPECT("\x42\x02"
	       "ab"
	       "\x42\x01"
	       "c",
		false, true, "abc");
}
END_TEST

START_TEST(reads_empty_trace)
{
	EXPECT("\x38\x01", true, false, "");
	EXPECT("\x38\x00", false, false, "");
	EXPECT("\x38\x01"
	       "\x42\x01"
	       "w",
		true, true, "w");
}
END_TEST

START_TEST(reads_the_tool_data_called_xplane_pb)
{
	EXPECT("\x32\x10"
	       "\x0a\x09xplane.pb"
	       "\x12\x03"
	       "abc",
		false, true, "abc");
	EXPECT("\x32\x0a"
	       "\x0a\x03xpl"
	       "\x12\x03"
	       "abc"
	       "\x32\x10"
	       "\x0a\x09xplane.pb"
	       "\x12\x03"
	       "def",
		false, true, "def");
}
END_TEST

START_TEST(counts_the_first_kind_only)
{
	EXPECT("\x32\x10"
	       "\x0a\x09xplane.pb"
	       "\x12\x03"
	       "abc"
	       "\x42\x01"
	       "x",
		false, true, "abc");
	EXPECT("\x42\x01"
	       "x"
	       "\x32\x10"
	       "\x0a\x09xplane.pb"
	       "\x12\x03"
	       "abc",
		false, true, "x");
}
END_TEST

START_TEST(skips_unknown_fields)
{
	EXPECT("\x08\xac\x02"
	       "\x11"
	       "12345678"
	       "\x1d"
	       "1234"
	       "\x22\x02zz"
	       "\x42\x01"
	       "x"
	       "\x32\x00",
		false, true, "x");
}
END_TEST

START_TEST(refuses_broken_bytes)
{
	REFUSE("\x42\x05"
	       "abc"); /* ends early */
	REFUSE("\x42"); /* no length */
	REFUSE("\x38\x80"); /* half a number */
	REFUSE("\x43"); /* a group */
	REFUSE("\x02\x00"); /* field 0 */
	REFUSE("\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); /* 11 bytes */
	REFUSE("\x32\x04\x0a\x09xp"); /* longer than what holds it */
	REFUSE("\x32\x01\x0a\x00"); /* a tag and no room for its length */
	REFUSE("\x32\x02\x11\x00"); /* a fixed field longer than what holds it */
	REFUSE("\x32\x02\x38\x80"); /* a number cut by what holds it */
}
END_TEST

START_TEST(stops_when_writing_fails)
{
	struct reply r = REPLY_INIT(fail_write, NULL);

	ck_assert_int_eq(reply_feed((const uint8_t *)"\x42\x01x", 3, &r), -ENOSPC);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(reads_xspace),
	UNIT_TEST(joins_xspace_that_comes_in_parts),
	UNIT_TEST(reads_empty_trace),
	UNIT_TEST(reads_the_tool_data_called_xplane_pb),
	UNIT_TEST(counts_the_first_kind_only),
	UNIT_TEST(skips_unknown_fields),
	UNIT_TEST(refuses_broken_bytes),
	UNIT_TEST(stops_when_writing_fails),
	{NULL},
};

UNIT_MAIN("reply", .tests = tests)
