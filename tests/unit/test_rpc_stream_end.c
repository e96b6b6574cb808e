/* SPDX-License-Identifier: Apache-2.0 */
/* Tests streams that end early, at each stage and by either side, and what remains of them. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/stream_fixture.h"
#include "tests/unit/unit.h"

#ifdef __SANITIZE_THREAD__
#define N_STREAMS 100 /* with TSan each takes 20 ms or more */
#else
#define N_STREAMS 1000
#endif
#define N_LATE 20

static struct rpc_method methods[] = {
	{"/t.Test/Echo", SMALL_BYTES, handle_echo, RPC_UNARY},
	{STREAM_PATH, 0, NULL, RPC_SERVER_STREAM},
};

static void set_up(void)
{
	methods[1] = stream_method;
	rpc_fixture_open(methods, sizeof methods / sizeof methods[0]);
}

static void check_alive(void)
{
	expect_reply(make_call("/t.Test/Echo", "alive", 5), "alive", 5);
}

/* A stream whose writer waits for its reader. */
static struct rpc_pending *start_blocked(struct writer *w, int64_t timeout_ms)
{
	struct rpc_pending *pending = start_stream(rpc.channel, timeout_ms);

	*w = (struct writer){.n_messages = 200, .bytes = MESSAGE_BYTES, .status = RPC_CANCELLED};
	writer_begin(w);
	wait_for(&w->blocked);
	return pending;
}

START_TEST(cancel_before_the_first_message)
{
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);
	struct chunks message = CHUNKS_INIT;

	wait_for(&rpc.arrived);
	rpc_pending_cancel(pending);
	expect_end(pending, RPC_CANCELLED, "");
	wait_for(&rpc.cancelled);
	ck_assert_int_eq(rpc_call_write(rpc.held, &message, PATIENCE_MS), -ECANCELED);
	ck_assert_int_eq(rpc_call_flush(rpc.held, PATIENCE_MS), -ECANCELED);
	rpc_call_finish(rpc.held, RPC_CANCELLED, "");
	check_alive();
	ck_assert_int_eq(rpc.n_cancels, 1);
}
END_TEST

START_TEST(cancel_wakes_a_writer_that_waits)
{
	struct writer w;
	struct rpc_pending *pending = start_blocked(&w, PATIENCE_MS);
	int64_t start_ns = monotonic_ns();

	rpc_pending_cancel(pending);
	writer_end(&w);
	ck_assert_int_lt(monotonic_ns() - start_ns, NS_PER_S);
	ck_assert_int_eq(w.result, -ECANCELED);
	expect_end(pending, RPC_CANCELLED, "");
	check_alive();
}
END_TEST

START_TEST(cancel_after_a_part_was_read)
{
	struct writer w;
	struct rpc_pending *pending = start_blocked(&w, PATIENCE_MS);

	for (unsigned i = 0; i < 10; i++)
		read_one(pending, i, MESSAGE_BYTES);
	rpc_pending_free(pending);
	writer_end(&w);
	ck_assert_int_eq(w.result, -ECANCELED);
}
END_TEST

START_TEST(cancel_after_the_last_message)
{
	struct writer w = {.n_messages = 1, .bytes = MESSAGE_BYTES};
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);

	writer_begin(&w);
	writer_end(&w);
	ck_assert_int_eq(w.result, 0);
	rpc_pending_free(pending);
	check_alive();
}
END_TEST

START_TEST(lost_connection_wakes_a_writer)
{
	struct writer w;
	struct rpc_pending *pending = start_blocked(&w, PATIENCE_MS);

	rpc_pending_free(pending);
	rpc.channel = rpc_channel_free(rpc.channel);
	writer_end(&w);
	ck_assert_int_eq(w.result, -ECANCELED);
}
END_TEST

START_TEST(deadline_wakes_a_writer)
{
	struct writer w;
	struct rpc_pending *pending = start_blocked(&w, 600);

	writer_end(&w);
	ck_assert_int_eq(w.result, -ECANCELED);
	expect_end(pending, RPC_DEADLINE_EXCEEDED, "");
	check_alive();
}
END_TEST

START_TEST(stop_of_the_server_wakes_a_writer)
{
	struct writer w;
	struct rpc_pending *pending = start_blocked(&w, PATIENCE_MS);

	rpc.server = rpc_server_free(rpc.server);
	writer_end(&w);
	ck_assert_int_eq(w.result, -ECANCELED);
	expect_end(pending, RPC_UNAVAILABLE, "");
}
END_TEST

START_TEST(end_of_the_process_waits_only_its_grace)
{
	struct writer w;
	struct rpc_pending *pending = start_blocked(&w, PATIENCE_MS);
	int64_t start_ns = monotonic_ns();

	rpc_server_finish(rpc.server, 200);
	ck_assert_int_lt(monotonic_ns() - start_ns, 5 * NS_PER_S);
	writer_end(&w);
	ck_assert_int_eq(w.result, -ECANCELED);
	expect_end(pending, RPC_UNAVAILABLE, "");
	exit(0); /* a real server exits here, too, because nothing can be freed any more */
}
END_TEST

START_TEST(writer_gives_up_a_reader_that_takes_nothing)
{
	struct writer w = {.n_messages = 200,
		.bytes = MESSAGE_BYTES,
		.timeout_ms = 200,
		.status = RPC_ABORTED,
		.text = "nobody reads"};
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);

	writer_begin(&w);
	writer_end(&w);
	ck_assert_int_eq(w.result, -ETIMEDOUT);
	/* The reader need not get the last written message. */
	ck_assert_uint_lt(read_stream(pending, MESSAGE_BYTES), w.n_written);
	expect_end(pending, RPC_ABORTED, "nobody reads");
	check_alive();
	rpc_fixture_close(); /* the server's thread has handled all events after this */
	ck_assert_int_eq(rpc.n_cancels, 0);
}
END_TEST

/* Writes until no message is accepted. Returns the number of accepted ones. */
static unsigned fill_up(struct rpc_call *call)
{
	unsigned n = 0;

	for (;; n++) {
		struct chunks message = CHUNKS_INIT;
		int r;

		ck_assert_ptr_nonnull(chunks_reserve(&message, MESSAGE_BYTES));
		chunks_commit(&message, MESSAGE_BYTES);
		r = rpc_call_write(call, &message, 200);
		if (r == -ETIMEDOUT)
			return n;
		ck_assert_int_eq(r, 0);
	}
}

START_TEST(finished_stream_is_read_to_its_end_later)
{
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);
	unsigned n_written, n_read = 0;

	wait_for(&rpc.arrived);
	n_written = fill_up(rpc.held);
	rpc_call_finish(rpc.held, RPC_OK, "");
	while (rpc_pending_next(pending, PATIENCE_MS))
		n_read++;
	ck_assert_uint_eq(n_read, n_written);
	expect_end(pending, RPC_OK, "");
}
END_TEST

START_TEST(client_may_leave_a_finished_stream)
{
	struct rpc_pending *pending = start_stream(rpc.channel, PATIENCE_MS);

	wait_for(&rpc.arrived);
	fill_up(rpc.held);
	rpc_call_finish(rpc.held, RPC_OK, "");
	rpc_pending_free(pending);
	check_alive();
}
END_TEST

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

struct holdings {
	int n_fds;
	int n_threads;
	size_t n_bytes;
};

static struct holdings count_holdings(void)
{
	return (struct holdings){count_entries("/proc/self/fd"), count_entries("/proc/self/task"),
		mallinfo2().uordblks};
}

static void cancel_at_once(struct rpc_channel *channel)
{
	struct rpc_pending *pending = start_stream(channel, PATIENCE_MS);
	struct rpc_call *call = take_held();

	rpc_pending_free(pending);
	rpc_call_finish(call, RPC_CANCELLED, "");
}

static void read_some(struct rpc_channel *channel, enum rpc_status status, unsigned n)
{
	struct writer w = {.n_messages = 3, .bytes = 100, .status = status};
	struct rpc_pending *pending = start_stream(channel, PATIENCE_MS);

	writer_begin(&w);
	for (unsigned i = 0; i < n; i++)
		rpc_pending_next(pending, PATIENCE_MS);
	rpc_pending_free(pending);
	writer_end(&w);
	sem_destroy(&w.blocked);
}

/* Ends a stream on a connection of its own, each time in another way. */
static void end_some_way(int i)
{
	struct rpc_channel *channel = connect_channel();

	switch (i % 4) {
	case 0:
		read_some(channel, RPC_OK, 4);
		break;
	case 1:
		read_some(channel, RPC_ABORTED, 4);
		break;
	case 2:
		read_some(channel, RPC_OK, 1);
		break;
	case 3:
		cancel_at_once(channel);
		break;
	}
	rpc_channel_free(channel);
}

/*
 * gRPC's caches grow at first, and its threads come and go. A leaked call would take more than 256
 * bytes.
 */
static bool are_alike(const struct holdings *first, const struct holdings *now)
{
	return now->n_fds < first->n_fds + N_LATE && now->n_threads < first->n_threads + N_LATE &&
	       now->n_bytes < first->n_bytes + 256000;
}

/* gRPC closes the last connections in its own time, which may be 10 s. */
static struct holdings await_holdings(const struct holdings *first)
{
	struct holdings now = count_holdings();

	for (int i = 0; i < PATIENCE_MS / 10 && !are_alike(first, &now); i++) {
		usleep(10000);
		now = count_holdings();
	}
	return now;
}

START_TEST(many_streams_leave_nothing_behind)
{
	struct holdings first, last;

	for (int i = 0; i < N_STREAMS; i++)
		end_some_way(i);
	first = count_holdings();
	for (int i = 0; i < N_STREAMS; i++)
		end_some_way(i);
	last = await_holdings(&first);
	ck_assert_msg(are_alike(&first, &last),
		"%d descriptors, %d threads, %zu bytes; later %d, %d, %zu", first.n_fds,
		first.n_threads, first.n_bytes, last.n_fds, last.n_threads, last.n_bytes);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(cancel_before_the_first_message),
	UNIT_TEST(cancel_wakes_a_writer_that_waits),
	UNIT_TEST(cancel_after_a_part_was_read),
	UNIT_TEST(cancel_after_the_last_message),
	UNIT_TEST(lost_connection_wakes_a_writer),
	UNIT_TEST(deadline_wakes_a_writer),
	UNIT_TEST(stop_of_the_server_wakes_a_writer),
	UNIT_TEST(end_of_the_process_waits_only_its_grace),
	UNIT_TEST(writer_gives_up_a_reader_that_takes_nothing),
	UNIT_TEST(finished_stream_is_read_to_its_end_later),
	UNIT_TEST(client_may_leave_a_finished_stream),
	UNIT_TEST(many_streams_leave_nothing_behind),
	{NULL},
};

UNIT_MAIN("rpc_stream_end", .set_up = set_up, .tear_down = rpc_fixture_close,
	.timeout_s = 3 * PATIENCE_MS / 1000, .tests = tests)
