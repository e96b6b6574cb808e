/* SPDX-License-Identifier: Apache-2.0 */
#include "client/answer/stream_answer.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "tests/unit/unit.h"
#include "trace/xspace/pbwire.h"

static char got[64];
static size_t n_got;

static int collect(const uint8_t *data, size_t n, void *context)
{
	if (context)
		return -ENOSPC;
	ck_assert_uint_le(n_got + n, sizeof got);
	if (n)
		memcpy(got + n_got, data, n);
	n_got += n;
	return 0;
}

static struct stream_answer begin(void *context)
{
	struct stream_answer s = {.write = collect, .context = context};

	n_got = 0;
	ck_assert_int_eq(stream_answer_init(&s), 0);
	return s;
}

#define FEED(s, bytes) stream_answer_feed(s, (const uint8_t *)(bytes), sizeof(bytes) - 1)

/* Feeds a trailer with the length |n_bytes| and the hash |xxh3|. */
static int feed_trailer(struct stream_answer *s, uint8_t n_bytes, uint64_t xxh3)
{
	uint8_t message[16] = {0x1a, 11, 0x08, n_bytes, 0x11};

	pb_put_fixed64(message + 5, xxh3);
	return stream_answer_feed(s, message, 13);
}

static uint64_t hash(void)
{
	return XXH3_64bits("abcde", 5);
}

START_TEST(hands_on_chunks_in_order)
{
	struct stream_answer s = begin(NULL);

	ck_assert_int_eq(FEED(&s, "\x0a\x00"), 0);
	ck_assert(s.has_progress);
	ck_assert_int_eq(FEED(&s, "\x0a\x04\x08\x02\x28\x05"), 0);
	ck_assert_uint_eq(s.progress.phase, 2);
	ck_assert_uint_eq(s.progress.xspace_bytes, 5);
	ck_assert_int_eq(FEED(&s, "\x12\x03"
				  "abc"),
		0);
	ck_assert_int_eq(FEED(&s, "\x12\x02"
				  "de"),
		0);
	ck_assert_int_eq(feed_trailer(&s, 5, hash()), 0);
	ck_assert_int_eq(stream_answer_end(&s), 0);
	ck_assert_uint_eq(n_got, 5);
	ck_assert_mem_eq(got, "abcde", 5);
	stream_answer_deinit(&s);
}
END_TEST

static void refuse_end(uint8_t n_bytes, uint64_t xxh3, const char *fault)
{
	struct stream_answer s = begin(NULL);

	ck_assert_int_eq(FEED(&s, "\x12\x05"
				  "abcde"),
		0);
	if (n_bytes)
		ck_assert_int_eq(feed_trailer(&s, n_bytes, xxh3), 0);
	ck_assert_int_eq(stream_answer_end(&s), -EBADMSG);
	ck_assert_str_eq(s.fault, fault);
	stream_answer_deinit(&s);
}

START_TEST(compares_with_the_trailer)
{
	refuse_end(0, 0, "its end is missing");
	refuse_end(6, hash(), "its length differs from that in its trailer");
	refuse_end(5, hash() + 1, "its checksum is wrong: it was damaged on the way");
}
END_TEST

START_TEST(refuses_messages_out_of_order)
{
	struct stream_answer s = begin(NULL);

	ck_assert_int_eq(FEED(&s, "\x12\x01"
				  "a"),
		0);
	ck_assert_int_eq(FEED(&s, "\x0a\x00"), -EBADMSG);
	ck_assert_int_eq(feed_trailer(&s, 1, 0), 0);
	ck_assert_int_eq(FEED(&s, "\x12\x01"
				  "a"),
		-EBADMSG);
	ck_assert_int_eq(feed_trailer(&s, 1, 0), -EBADMSG);
	stream_answer_deinit(&s);
}
END_TEST

START_TEST(refuses_data_beyond_the_announced_size)
{
	struct stream_answer s = begin(NULL);

	ck_assert_int_eq(FEED(&s, "\x0a\x02\x28\x04"), 0);
	ck_assert_int_eq(FEED(&s, "\x12\x03"
				  "abc"),
		0);
	ck_assert_int_eq(FEED(&s, "\x12\x02"
				  "de"),
		-EBADMSG);
	ck_assert_str_eq(s.fault, "more data came than was announced");
	ck_assert_uint_eq(n_got, 3);
	stream_answer_deinit(&s);
}
END_TEST

START_TEST(refuses_malformed_messages)
{
	struct stream_answer s = begin(NULL);

	ck_assert_int_eq(FEED(&s, "\x12\x00"), -EBADMSG);
	ck_assert_int_eq(FEED(&s, "\x12\x05"
				  "abc"),
		-EBADMSG);
	ck_assert_int_eq(FEED(&s, "\x0a\x01\x08"), -EBADMSG);
	ck_assert_ptr_nonnull(s.fault);
	ck_assert_int_eq(n_got, 0);
	/* A later version may add such a part. */
	ck_assert_int_eq(FEED(&s, "\x22\x01x"), 0);
	stream_answer_deinit(&s);
}
END_TEST

START_TEST(passes_on_the_writers_error)
{
	struct stream_answer s = begin(got);

	ck_assert_int_eq(FEED(&s, "\x12\x01"
				  "a"),
		-ENOSPC);
	stream_answer_deinit(&s);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(hands_on_chunks_in_order),
	UNIT_TEST(compares_with_the_trailer),
	UNIT_TEST(refuses_messages_out_of_order),
	UNIT_TEST(refuses_data_beyond_the_announced_size),
	UNIT_TEST(refuses_malformed_messages),
	UNIT_TEST(passes_on_the_writers_error),
	{NULL},
};

UNIT_MAIN("stream_answer", .tests = tests)
