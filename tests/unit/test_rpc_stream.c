/* SPDX-License-Identifier: Apache-2.0 */
/* Tests answers of many messages without errors, and slow readers. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/stream_fixture.h"
#include "tests/unit/unit.h"

#define N_CHANNELS 24
#define LONG_STREAM 1024u /* MiB */
#define SMALL_RSS_BYTES (64u << 20)

static struct rpc_method methods[] = {
	{"/t.Test/Echo", SMALL_BYTES, handle_echo, RPC_UNARY},
	{STREAM_PATH, 0, NULL, RPC_SERVER_STREAM},
};

static void set_up(void)
{
	methods[1] = stream_method;
	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
}

START_TEST(whole_stream_arrives_in_order)
{
	const size_t sizes[] = {0, 1, 300007, MESSAGE_BYTES};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct writer w = {.n_messages = 50, .bytes = sizes[i]};
		struct rpc_pending *pending;

		writer_begin(&w);
		pending = start_stream(rpc.channel, PATIENCE_MS);
		ck_assert_uint_eq(read_stream(pending, sizes[i]), 50);
		expect_end(pending, RPC_OK, "");
		writer_end(&w);
		ck_assert_int_eq(w.result, 0);
	}
	ck_assert_int_eq(rpc.n_cancels, 0);
}
END_TEST

START_TEST(stream_may_be_empty)
{
	struct writer w = {.n_messages = 0};
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);

	ck_assert_int_eq(rpc_pending_next(pending, 0), 0);
	ck_assert(!rpc_pending_has_ended(pending));
	writer_begin(&w);
	ck_assert_uint_eq(read_stream(pending, 0), 0);
	ck_assert_uint_eq(rpc_pending_get_bytes(pending), 0);
	expect_end(pending, RPC_OK, "");
	writer_end(&w);
}
END_TEST

START_TEST(status_comes_after_the_messages)
{
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);
	struct chunks message = CHUNKS_INIT;
	struct chunks broken = {.error = -ENOMEM};

	wait_for(&rpc.arrived);
	rpc_call_begin(rpc.held);
	rpc_call_begin(rpc.held);
	ck_assert_int_eq(rpc_call_write(rpc.held, &message, 0), 0);
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 1);
	ck_assert_int_eq(rpc_call_write(rpc.held, &broken, PATIENCE_MS), -ENOMEM);
	ck_assert_int_eq(rpc_call_flush(rpc.held, PATIENCE_MS), 0);
	rpc_call_finish(rpc.held, RPC_DATA_LOSS, "the rest is missing");
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 0);
	expect_end(pending, RPC_DATA_LOSS, "the rest is missing");
}
END_TEST

START_TEST(failed_stream_has_no_message)
{
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);

	wait_for(&rpc.arrived);
	rpc_call_fail(rpc.held, RPC_ALREADY_EXISTS, "busy");
	ck_assert_uint_eq(read_stream(pending, 0), 0);
	expect_end(pending, RPC_ALREADY_EXISTS, "busy");
}
END_TEST

START_TEST(message_above_the_readers_limit_is_refused)
{
	struct rpc_request request = {STREAM_PATH, NULL, 0, PATIENCE_MS, 999};
	struct writer w = {.n_messages = 5, .bytes = 1000};
	struct rpc_pending *pending = NULL;

	writer_begin(&w);
	ck_assert_int_eq(rpc_stream_start(rpc.channel, &request, &pending, NULL), 0);
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 0);
	ck_assert(rpc_pending_has_ended(pending));
	expect_end(pending, RPC_INTERNAL, "it is larger than 999 bytes");
	writer_end(&w);
}
END_TEST

START_TEST(wait_drops_the_messages)
{
	struct writer w = {.n_messages = 20, .bytes = MESSAGE_BYTES};
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);

	writer_begin(&w);
	expect_end(pending, RPC_OK, "");
	writer_end(&w);
	ck_assert_uint_eq(w.n_written, 20);
}
END_TEST

/* The thread that waits for the reader is not the server's thread. */
START_TEST(slow_reader_holds_only_the_writer)
{
	struct writer w = {.n_messages = 200, .bytes = MESSAGE_BYTES};
	struct rpc_channel *reader = connect_channel();
	struct rpc_pending *pending = start_stream(reader, PATIENCE_MS);
	unsigned n_written;

	writer_begin(&w);
	wait_for(&w.blocked);
	n_written = w.n_written;
	ck_assert_uint_lt(n_written, 40);
	expect_reply(make_call("/t.Test/Echo", "free", 4), "free", 4);
	ck_assert_uint_eq(w.n_written, n_written);
	ck_assert_uint_eq(read_stream(pending, MESSAGE_BYTES), 200);
	expect_end(pending, RPC_OK, "");
	writer_end(&w);
	rpc_channel_free(reader);
}
END_TEST

/*
 * Even the first message, which may be large, stays with the server until the reader asks for it.
 */
START_TEST(answer_stays_with_its_server_until_it_is_asked_for)
{
	struct writer w = {.n_messages = 2, .bytes = 16 * MESSAGE_BYTES};
	struct rpc_channel *reader = connect_channel();
	struct rpc_pending *pending = start_stream(reader, PATIENCE_MS);

	ck_assert_int_eq(rpc_pending_await_answer(pending, 0), 0);
	writer_begin(&w);
	ck_assert_int_eq(rpc_pending_await_answer(pending, PATIENCE_MS), 1);
	wait_for(&w.blocked);
	ck_assert_uint_eq(w.n_written, 1);
	ck_assert(!rpc_pending_has_message(pending));
	ck_assert_uint_eq(read_stream(pending, 16 * MESSAGE_BYTES), 2);
	expect_end(pending, RPC_OK, "");
	writer_end(&w);
	rpc_channel_free(reader);
}
END_TEST

START_TEST(streams_of_many_servers_are_read_by_one_thread)
{
	struct rpc_channel *channels[N_CHANNELS];
	struct rpc_pending *streams[N_CHANNELS];
	struct writer writers[N_CHANNELS];
	unsigned n_read[N_CHANNELS] = {0};
	int n_open = N_CHANNELS;

	memset(writers, 0, sizeof writers);
	for (int i = 0; i < N_CHANNELS; i++) {
		writers[i].n_messages = 20;
		writers[i].bytes = MESSAGE_BYTES / 4;
		channels[i] = connect_channel();
		streams[i] = start_stream(channels[i], PATIENCE_MS);
		writer_begin(&writers[i]);
		/* The writer has taken the call before the next one arrives. */
		read_one(streams[i], n_read[i]++, MESSAGE_BYTES / 4);
	}
	for (int turn = 0; n_open; turn++) {
		n_open = 0;
		for (int i = 0; i < N_CHANNELS; i++) {
			n_read[i] += (unsigned)rpc_pending_next(streams[i], turn % 8 ? 0 : 1);
			n_open += !rpc_pending_has_ended(streams[i]);
		}
	}
	for (int i = 0; i < N_CHANNELS; i++) {
		ck_assert_uint_eq(n_read[i], 20);
		expect_end(streams[i], RPC_OK, "");
		writer_end(&writers[i]);
		rpc_channel_free(channels[i]);
	}
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Returns the peak since the last reset_peak(). */
static size_t peak_bytes(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	size_t kib = 0;

	while (fgets(line, sizeof line, file))
		sscanf(line, "VmHWM: %zu", &kib);
	fclose(file);
	return kib << 10;
}

static void reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "we");

	ck_assert_ptr_nonnull(file);
	fputs("5", file);
	fclose(file);
}

/* The memory of both sides counts. The reader pauses at the beginning, and after each tenth. */
START_TEST(long_stream_needs_little_memory)
{
	struct writer w = {.n_messages = LONG_STREAM, .bytes = MESSAGE_BYTES};
	struct rpc_pending *pending = start_stream(rpc.channel, -1);
	size_t before;

	reset_peak();
	before = peak_bytes();
	writer_begin(&w);
	wait_for(&w.blocked);
	for (unsigned i = 0; i < LONG_STREAM; i++) {
		if (i % (LONG_STREAM / 10) == 80 && i < LONG_STREAM / 10 * 9)
			wait_for(&w.blocked);
		read_one(pending, i, MESSAGE_BYTES);
	}
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 0);
	expect_end(pending, RPC_OK, "");
	writer_end(&w);
	ck_assert_uint_lt(peak_bytes() - before, SMALL_RSS_BYTES);
	printf("# peak %zu KiB more\n", (peak_bytes() - before) >> 10);
}
END_TEST
#endif

static const struct unit_test tests[] = {
	UNIT_TEST(whole_stream_arrives_in_order),
	UNIT_TEST(stream_may_be_empty),
	UNIT_TEST(status_comes_after_the_messages),
	UNIT_TEST(failed_stream_has_no_message),
	UNIT_TEST(message_above_the_readers_limit_is_refused),
	UNIT_TEST(wait_drops_the_messages),
	UNIT_TEST(slow_reader_holds_only_the_writer),
	UNIT_TEST(answer_stays_with_its_server_until_it_is_asked_for),
	UNIT_TEST(streams_of_many_servers_are_read_by_one_thread),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	UNIT_TEST(long_stream_needs_little_memory),
#endif
#endif
	{NULL},
};

UNIT_MAIN("rpc_stream", .set_up = set_up, .tear_down = rpc_fixture_close,
	.timeout_s = 3 * PATIENCE_MS / 1000, .tests = tests)
