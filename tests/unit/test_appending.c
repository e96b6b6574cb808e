/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the counters that a host daemon appends to a trace that it passes on, and the size and
 * checksum of both together.
 */
#include "daemon/host/calls/appending.h"

#include <check.h>
#include <string.h>

#include <xxhash.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "daemon/host/machine/machine_plane.h"
#include "daemon/serve/message/reply.h"
#include "proftap/v1/profiler.pb-c.h"
#include "tests/unit/machine_fixture.h"
#include "tests/unit/rpc_fixture.h"
#include "tests/unit/stream_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"

#define TRACE "an XSpace of a program"
#define TRACE_BYTES (sizeof TRACE - 1)
#define N_EVENTS 3

typedef Proftap__V1__CaptureReply Reply;

static struct rpc_method methods[] = {{STREAM_PATH, 0, NULL, RPC_SERVER_STREAM}};
static struct rpc_call *call; /* of the program's server */
static struct rpc_pending *pending; /* the daemon's */
static struct appending appending;
static Proftap__V1__MachineUsage wanted;
static struct chunks sent; /* chunks that the client gets */
static Reply *told; /* the last message as changed, but no chunk; NULL: unchanged */

static void set_up(void)
{
	machine_fixture_set_up();
	machine_fixture_open_sampled();
	methods[0] = stream_method;
	rpc_fixture_open(methods, 1);
	pending = start_stream(rpc.channel, PATIENCE_MS);
	call = take_held();
	proftap__v1__machine_usage__init(&wanted);
	wanted.start_ns = (uint64_t)(machine_fixture.now_ns - 5 * NS_PER_S);
	wanted.duration_ns = (uint64_t)NS_PER_S;
	appending_init(&appending, machine_fixture.machine);
}

static void forget(void)
{
	if (told)
		proftap__v1__capture_reply__free_unpacked(told, NULL);
	told = NULL;
}

static void tear_down(void)
{
	appending_deinit(&appending);
	forget();
	chunks_deinit(&sent);
	rpc_call_finish(call, RPC_OK, "");
	expect_end(pending, RPC_OK, "");
	rpc_fixture_close();
	machine_fixture_tear_down();
}

/* Takes the bytes that the daemon sends in place of a message. */
static void take_message(struct chunks *message)
{
	Reply *reply;

	ck_assert_int_eq(message->error, 0);
	ck_assert_uint_eq(message->n_chunks, 1);
	reply = proftap__v1__capture_reply__unpack(
		NULL, (size_t)message->total_bytes, message->chunks[0].data);
	chunks_deinit(message);
	ck_assert_ptr_nonnull(reply);
	if (reply->part_case == PROFTAP__V1__CAPTURE_REPLY__PART_CHUNK) {
		ck_assert_ptr_null(told);
		chunks_append(&sent, reply->chunk.data, reply->chunk.len);
		proftap__v1__capture_reply__free_unpacked(reply, NULL);
		return;
	}
	told = reply;
}

/* Returns true if the message was changed: then |told| is what the client gets; else it is NULL. */
static bool pass(const Reply *reply)
{
	struct chunks message = CHUNKS_INIT;
	bool is_changed;

	forget();
	reply_message_append(&message, &reply->base);
	ck_assert_int_eq(rpc_call_write(call, &message, PATIENCE_MS), 0);
	ck_assert_int_eq(rpc_pending_next(pending, PATIENCE_MS), 1);
	is_changed = appending_read_message(&appending, pending);
	while (appending_next(&appending, &message))
		take_message(&message);
	ck_assert_int_eq(is_changed, told != NULL);
	return is_changed;
}

static bool pass_progress(Proftap__V1__MachineUsage *usage)
{
	Proftap__V1__Progress progress = PROFTAP__V1__PROGRESS__INIT;
	Reply reply = PROFTAP__V1__CAPTURE_REPLY__INIT;

	progress.elapsed_ns = 42;
	progress.xspace_bytes = TRACE_BYTES;
	progress.machine_usage = usage;
	reply.part_case = PROFTAP__V1__CAPTURE_REPLY__PART_PROGRESS;
	reply.progress = &progress;
	return pass(&reply);
}

static bool pass_chunk(const char *text)
{
	Reply reply = PROFTAP__V1__CAPTURE_REPLY__INIT;

	reply.part_case = PROFTAP__V1__CAPTURE_REPLY__PART_CHUNK;
	reply.chunk.data = (uint8_t *)text;
	reply.chunk.len = strlen(text);
	chunks_append(&sent, text, strlen(text));
	return pass(&reply);
}

static bool pass_trailer(uint64_t n_bytes, uint64_t sum, Proftap__V1__MachineUsage *usage)
{
	Proftap__V1__Trailer trailer = PROFTAP__V1__TRAILER__INIT;
	Reply reply = PROFTAP__V1__CAPTURE_REPLY__INIT;

	trailer.xspace_bytes = n_bytes;
	trailer.xspace_xxh3 = sum;
	trailer.n_events = N_EVENTS;
	trailer.n_dropped = 5;
	trailer.machine_usage = usage;
	reply.part_case = PROFTAP__V1__CAPTURE_REPLY__PART_TRAILER;
	reply.trailer = &trailer;
	return pass(&reply);
}

static bool pass_right_trailer(Proftap__V1__MachineUsage *usage)
{
	return pass_trailer(TRACE_BYTES, XXH3_64bits(TRACE, TRACE_BYTES), usage);
}

/* Returns the number of events in the part after the trace. */
static uint64_t check_part(void)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct diag d = DIAG_INIT;
	uint64_t n_events = 0;

	ck_assert_uint_eq(sent.n_chunks, 1);
	ck_assert_mem_eq(sent.chunks[0].data, TRACE, TRACE_BYTES);
	ck_assert_int_eq(xspace_decode(sent.chunks[0].data + TRACE_BYTES,
				 (size_t)sent.total_bytes - TRACE_BYTES, &space, &d),
		0);
	ck_assert_uint_eq(space->n_planes, 1);
	ck_assert_str_eq(space->planes[0]->name, PLANE_MACHINE);
	for (size_t i = 0; i < space->planes[0]->n_lines; i++)
		n_events += space->planes[0]->lines[i].n_events;
	ck_assert_uint_gt(n_events, 0);
	return n_events;
}

static void check_trailer(uint64_t n_events)
{
	const Proftap__V1__Trailer *t = told->trailer;

	ck_assert_ptr_null(t->machine_usage);
	ck_assert_uint_eq(t->xspace_bytes, sent.total_bytes);
	ck_assert_uint_eq(
		t->xspace_xxh3, XXH3_64bits(sent.chunks[0].data, (size_t)sent.total_bytes));
	ck_assert_uint_eq(t->n_events, N_EVENTS + n_events);
	ck_assert_uint_eq(t->n_dropped, 5);
}

START_TEST(the_part_is_behind_the_last_chunk)
{
	uint64_t announced;

	ck_assert_int_eq(pass_progress(NULL), 0);
	ck_assert_int_eq(pass_progress(&wanted), 1);
	ck_assert_ptr_null(told->progress->machine_usage);
	ck_assert_uint_eq(told->progress->elapsed_ns, 42);
	announced = told->progress->xspace_bytes;
	ck_assert_int_eq(pass_chunk("an XSpace of"), 0);
	ck_assert_int_eq(pass_chunk(" a program"), 0);
	/* The announced part is sent, though |wanted| now has another start. */
	wanted.start_ns = 1;
	ck_assert_int_eq(pass_right_trailer(&wanted), 1);
	check_trailer(check_part());
	ck_assert_uint_eq(announced, sent.total_bytes);
}
END_TEST

START_TEST(the_part_comes_without_progress)
{
	pass_chunk(TRACE);
	ck_assert_int_eq(pass_right_trailer(&wanted), 1);
	check_trailer(check_part());
}
END_TEST

START_TEST(client_without_interest_gets_none)
{
	pass_progress(NULL);
	pass_chunk(TRACE);
	pass_right_trailer(NULL);
	check_trailer(0);
	ck_assert_uint_eq(sent.total_bytes, TRACE_BYTES);
}
END_TEST

static void expect_none(void)
{
	pass_chunk(TRACE);
	ck_assert_int_eq(pass_right_trailer(&wanted), 1);
	check_trailer(0);
	ck_assert_uint_eq(sent.total_bytes, TRACE_BYTES);
}

START_TEST(start_in_the_far_past_gives_none)
{
	wanted.start_ns = 1;
	expect_none();
}
END_TEST

START_TEST(interval_in_the_future_gives_none)
{
	wanted.duration_ns = (uint64_t)(100 * NS_PER_S);
	expect_none();
}
END_TEST

START_TEST(nothing_is_appended_to_a_damaged_trace)
{
	const uint64_t sum = XXH3_64bits(TRACE, TRACE_BYTES);

	pass_progress(&wanted);
	pass_chunk(TRACE);
	ck_assert_int_eq(pass_trailer(TRACE_BYTES, sum + 1, &wanted), 0);
	ck_assert_int_eq(pass_trailer(TRACE_BYTES + 1, sum, &wanted), 0);
	ck_assert_uint_eq(sent.total_bytes, TRACE_BYTES);
}
END_TEST

/* The fields are those of a later version. */
START_TEST(unknown_fields_stay)
{
	static const uint8_t bytes[] = {1, 'x'}; /* length, content */
	ProtobufCMessageUnknownField field = {
		99, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, sizeof bytes, (uint8_t *)bytes};
	Proftap__V1__Progress progress = PROFTAP__V1__PROGRESS__INIT;
	Reply reply = PROFTAP__V1__CAPTURE_REPLY__INIT;

	progress.machine_usage = &wanted;
	progress.base.n_unknown_fields = 1;
	progress.base.unknown_fields = &field;
	reply.part_case = PROFTAP__V1__CAPTURE_REPLY__PART_PROGRESS;
	reply.progress = &progress;
	ck_assert_int_eq(pass(&reply), 1);
	ck_assert_uint_eq(told->progress->base.n_unknown_fields, 1);
	ck_assert_uint_eq(told->progress->base.unknown_fields[0].tag, 99);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(the_part_is_behind_the_last_chunk),
	UNIT_TEST(the_part_comes_without_progress),
	UNIT_TEST(client_without_interest_gets_none),
	UNIT_TEST(start_in_the_far_past_gives_none),
	UNIT_TEST(interval_in_the_future_gives_none),
	UNIT_TEST(nothing_is_appended_to_a_damaged_trace),
	UNIT_TEST(unknown_fields_stay),
	{NULL},
};

UNIT_MAIN("appending", .set_up = set_up, .tear_down = tear_down, .tests = tests)
