/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the room for messages: returned room is lent again, new room is made if there is none, and
 * lent room outlives the stream.
 */
#include "daemon/serve/message/stream_room.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "tests/unit/unit.h"

#define N_MESSAGES 9

static uint8_t *lend(struct stream_room *room, struct chunks *message)
{
	uint8_t *data;

	stream_room_lend(room, message);
	data = chunks_reserve(message, CHUNK_BYTES);
	ck_assert_ptr_nonnull(data);
	memset(data, 1, CHUNK_BYTES);
	chunks_commit(message, CHUNK_BYTES);
	ck_assert_uint_eq(message->n_chunks, 1);
	return data;
}

START_TEST(lends_a_returned_buffer_again)
{
	struct stream_room *room = stream_room_new();
	struct chunks a = CHUNKS_INIT;
	struct chunks b = CHUNKS_INIT;
	uint8_t *data = lend(room, &a);

	ck_assert_ptr_ne(lend(room, &b), data);
	chunks_deinit(&a);
	ck_assert_ptr_eq(lend(room, &a), data);
	chunks_deinit(&a);
	chunks_deinit(&b);
	stream_room_release(room);
}
END_TEST

START_TEST(lent_buffers_outlive_the_stream)
{
	struct stream_room *room = stream_room_new();
	struct chunks messages[N_MESSAGES];

	memset(messages, 0, sizeof messages);
	for (size_t i = 0; i < N_MESSAGES; i++)
		lend(room, &messages[i])[0] = (uint8_t)i;
	stream_room_release(room);
	for (size_t i = 0; i < N_MESSAGES; i++) {
		ck_assert_uint_eq(messages[i].chunks[0].data[0], i);
		chunks_deinit(&messages[i]);
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(lends_a_returned_buffer_again),
	UNIT_TEST(lent_buffers_outlive_the_stream),
	{NULL},
};

UNIT_MAIN("stream_room", .tests = tests)
