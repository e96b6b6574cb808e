/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a trace as a stream, with outcomes that no real recording has on demand. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/progress.h"
#include "daemon/serve/message/trace_stream.h"
#include "proftap/v1/profiler.pb-c.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/stream_fixture.h"
#include "tests/unit/unit.h"

#define INTERVAL_MS 50
#define XSPACE_BYTES (5u << 20)
#define MORE_THAN_FITS (64u << 20) /* exceeds the client's window and both sockets */

static struct rpc_method methods[] = {{STREAM_PATH, 0, NULL, RPC_SERVER_STREAM}};
static struct trace_streams all;

static void set_up(void)
{
	methods[0] = stream_method;
	rpc_fixture_open(methods, 1);
}

static int append(const uint8_t *data, size_t n, void *context)
{
	chunks_append(context, data, n);
	return 0;
}

/* Returns the next message, which must come. The caller owns it. */
static Proftap__V1__CaptureReply *read_part(struct rpc_pending *pending)
{
	struct chunks bytes = CHUNKS_INIT;
	Proftap__V1__CaptureReply *part;

	ck_assert(rpc_pending_next(pending, PATIENCE_MS));
	ck_assert_ptr_nonnull(chunks_reserve(&bytes, rpc_pending_get_bytes(pending)));
	ck_assert_int_eq(rpc_pending_read(pending, append, &bytes), 0);
	part = proftap__v1__capture_reply__unpack(
		NULL, (size_t)bytes.total_bytes, bytes.chunks[0].data);
	ck_assert_ptr_nonnull(part);
	chunks_deinit(&bytes);
	return part;
}

static Proftap__V1__Phase read_phase(struct rpc_pending *pending)
{
	Proftap__V1__CaptureReply *part = read_part(pending);
	Proftap__V1__Phase phase;

	ck_assert_int_eq(part->part_case, PROFTAP__V1__CAPTURE_REPLY__PART_PROGRESS);
	phase = part->progress->phase;
	proftap__v1__capture_reply__free_unpacked(part, NULL);
	return phase;
}

/* The phase before may have been sent several times. */
static void expect_phase(struct rpc_pending *pending, Proftap__V1__Phase phase)
{
	Proftap__V1__Phase now = read_phase(pending);

	while (now < phase)
		now = read_phase(pending);
	ck_assert_int_eq(now, phase);
}

static struct trace_stream *make_stream(struct rpc_pending **pending, int64_t idle_ms)
{
	const struct trace_stream_config config = {
		.place = {&all, 0}, .interval_ms = INTERVAL_MS, .idle_ms = idle_ms};
	struct trace_stream *stream = NULL;

	*pending = start_stream(rpc.channel, PATIENCE_MS);
	ck_assert_int_eq(trace_stream_new(take_held(), &config, &stream), 0);
	return stream;
}

/* Makes a trace that lacks |missing| of its announced bytes. */
static struct capture_result make_sized_result(size_t n_bytes, size_t missing)
{
	struct capture_result result = {.n_events = 7};
	struct chunks xspace = CHUNKS_INIT;

	ck_assert_ptr_nonnull(chunks_reserve(&xspace, n_bytes));
	memset(xspace.chunks[0].data, 1, n_bytes);
	chunks_commit(&xspace, n_bytes);
	xspace.chunks[0].used_bytes -= missing;
	ck_assert_int_eq(delivery_new_from_chunks(&xspace, &result.delivery), 0);
	return result;
}

static struct capture_result make_result(size_t missing)
{
	return make_sized_result(XSPACE_BYTES, missing);
}

static void end_with(struct trace_stream *stream, int r, const char *text)
{
	struct capture_result nothing = {.n_events = 0};
	struct diag d = DIAG_INIT;

	diag_set(&d, -EIO, "%s", text);
	trace_stream_end(stream, r, &nothing, &d);
}

static void await_none(void)
{
	rpc.server = rpc_server_free(rpc.server); /* waits for every call */
	ck_assert_uint_eq(all.n, 0);
}

START_TEST(tells_each_phase)
{
	struct rpc_pending *pending;
	struct trace_stream *stream = make_stream(&pending, PATIENCE_MS);
	struct progress *progress = trace_stream_get_progress(stream);
	struct capture_result result = make_result(0);
	Proftap__V1__CaptureReply *part;
	uint64_t n_bytes = 0;

	trace_stream_start(stream);
	expect_phase(pending, PROFTAP__V1__PHASE__WAITING);
	progress_begin(progress, monotonic_ns(), INT64_MAX);
	expect_phase(pending, PROFTAP__V1__PHASE__RECORDING);
	progress_end(progress, monotonic_ns());
	expect_phase(pending, PROFTAP__V1__PHASE__COLLECTING);
	trace_stream_end(stream, 0, &result, NULL);
	ck_assert_ptr_null(result.delivery);
	for (part = read_part(pending); part->part_case != PROFTAP__V1__CAPTURE_REPLY__PART_TRAILER;
		part = read_part(pending)) {
		if (part->part_case == PROFTAP__V1__CAPTURE_REPLY__PART_CHUNK)
			n_bytes += part->chunk.len;
		proftap__v1__capture_reply__free_unpacked(part, NULL);
	}
	ck_assert_uint_eq(n_bytes, XSPACE_BYTES);
	ck_assert_uint_eq(part->trailer->xspace_bytes, XSPACE_BYTES);
	ck_assert_uint_eq(part->trailer->n_events, 7);
	proftap__v1__capture_reply__free_unpacked(part, NULL);
	expect_end(pending, RPC_OK, "");
	await_none();
}
END_TEST

START_TEST(outcome_may_come_before_the_start)
{
	struct rpc_pending *pending;
	struct trace_stream *stream = make_stream(&pending, PATIENCE_MS);

	end_with(stream, CAPTURE_BUSY, "session a");
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 0);
	expect_end(pending, RPC_ALREADY_EXISTS, "another profiling session is active (session a)");
	trace_stream_start(stream);
	await_none();
}
END_TEST

START_TEST(each_failure_has_its_status)
{
	static const struct {
		int r;
		int status;
		const char *words;
	} rows[] = {
		{CAPTURE_CANCELLED, RPC_CANCELLED, "discarded"},
		{CAPTURE_NO_TARGET, RPC_UNAVAILABLE, "the program has ended"},
		{-ENOMEM, RPC_RESOURCE_EXHAUSTED, "out of memory"},
		{-EIO, RPC_UNAVAILABLE, "what happened"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct rpc_pending *pending;
		struct trace_stream *stream = make_stream(&pending, PATIENCE_MS);

		trace_stream_start(stream);
		end_with(stream, rows[i].r, "what happened");
		expect_end(pending, rows[i].status, rows[i].words);
	}
	await_none();
}
END_TEST

START_TEST(trace_that_cannot_be_read_is_not_whole)
{
	struct rpc_pending *pending;
	struct trace_stream *stream = make_stream(&pending, PATIENCE_MS);
	struct capture_result result = make_result(1);

	trace_stream_start(stream);
	trace_stream_end(stream, 0, &result, NULL);
	expect_end(pending, RPC_DATA_LOSS, "could not be read back");
	await_none();
}
END_TEST

START_TEST(reader_that_stands_still_is_given_up)
{
	struct rpc_pending *pending;
	struct trace_stream *stream = make_stream(&pending, 200);
	struct capture_result result = make_sized_result(MORE_THAN_FITS, 0);

	trace_stream_start(stream);
	trace_stream_end(stream, 0, &result, NULL);
	while (all.n)
		usleep(1000);
	expect_end(pending, RPC_ABORTED, "the client read none of it");
	await_none();
}
END_TEST

START_TEST(client_that_leaves_ends_its_delivery)
{
	struct rpc_pending *pending;
	struct trace_stream *stream = make_stream(&pending, PATIENCE_MS);
	struct capture_result result = make_result(0);

	trace_stream_start(stream);
	trace_stream_end(stream, 0, &result, NULL);
	rpc_pending_free(pending);
	while (all.n)
		usleep(1000);
	await_none();
}
END_TEST

START_TEST(abandoned_stream_leaves_the_call_alone)
{
	struct rpc_pending *pending;
	struct trace_stream *stream = make_stream(&pending, PATIENCE_MS);

	trace_stream_abandon(stream);
	while (all.n)
		usleep(1000);
	rpc_call_fail(rpc.held, RPC_NOT_FOUND, "somebody else's words");
	expect_end(pending, RPC_NOT_FOUND, "somebody else's words");
}
END_TEST

START_TEST(number_of_streams_is_bounded)
{
	const struct trace_stream_config config = {.place = {&all, 0}, .idle_ms = PATIENCE_MS};
	struct rpc_pending *pending[TRACE_STREAM_MAX];
	struct trace_stream *streams[TRACE_STREAM_MAX], *more = NULL;

	for (int i = 0; i < TRACE_STREAM_MAX; i++)
		streams[i] = make_stream(&pending[i], PATIENCE_MS);
	ck_assert_int_eq(trace_stream_new(NULL, &config, &more), -EUSERS);
	for (int i = 0; i < TRACE_STREAM_MAX; i++) {
		trace_stream_start(streams[i]);
		end_with(streams[i], CAPTURE_CANCELLED, "");
		expect_end(pending[i], RPC_CANCELLED, "");
	}
	await_none();
}
END_TEST

START_TEST(waiting_streams_have_places_of_their_own)
{
	const struct trace_stream_config config = {.place = {&all, 1}, .idle_ms = PATIENCE_MS};
	struct rpc_pending *pending[TRACE_STREAM_MAX];
	struct trace_stream *streams[TRACE_STREAM_MAX];
	struct trace_stream *later[TRACE_STREAM_MAX_WAITING], *more = NULL;

	for (int i = 0; i < TRACE_STREAM_MAX; i++)
		streams[i] = make_stream(&pending[i], PATIENCE_MS);
	for (int i = 0; i < TRACE_STREAM_MAX_WAITING; i++)
		ck_assert_int_eq(trace_stream_new(NULL, &config, &later[i]), 0);
	ck_assert_int_eq(trace_stream_new(NULL, &config, &more), -EUSERS);
	for (int i = 0; i < TRACE_STREAM_MAX_WAITING; i++)
		trace_stream_abandon(later[i]);
	while (all.n_waiting)
		usleep(1000);
	ck_assert_uint_eq(all.n, TRACE_STREAM_MAX);
	for (int i = 0; i < TRACE_STREAM_MAX; i++) {
		trace_stream_start(streams[i]);
		end_with(streams[i], CAPTURE_CANCELLED, "");
		expect_end(pending[i], RPC_CANCELLED, "");
	}
	await_none();
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(tells_each_phase),
	UNIT_TEST(outcome_may_come_before_the_start),
	UNIT_TEST(each_failure_has_its_status),
	UNIT_TEST(trace_that_cannot_be_read_is_not_whole),
	UNIT_TEST(reader_that_stands_still_is_given_up),
	UNIT_TEST(client_that_leaves_ends_its_delivery),
	UNIT_TEST(abandoned_stream_leaves_the_call_alone),
	UNIT_TEST(number_of_streams_is_bounded),
	UNIT_TEST(waiting_streams_have_places_of_their_own),
	{NULL},
};

UNIT_MAIN("trace_stream", .set_up = set_up, .tear_down = rpc_fixture_close,
	.timeout_s = 3 * PATIENCE_MS / 1000, .tests = tests)
