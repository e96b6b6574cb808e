/* SPDX-License-Identifier: Apache-2.0 */
/* Answers calls with streams, and reads streams; see stream_fixture.h. */
#include "tests/unit/stream_fixture.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "rpc/handoff.h"
#include "tests/unit/rpc_fixture.h"

/* If a flush takes longer, the reader does not read, and write_next() posts |blocked|. */
#define MOMENT_MS 50

static void on_cancel(struct rpc_call *call, void *context)
{
	(void)call;
	ck_assert_ptr_eq(context, &rpc);
	rpc.n_cancels++;
	sem_post(&rpc.cancelled);
}

static void handle_stream(struct rpc_call *call, const uint8_t *request, size_t n, void *context)
{
	rpc_call_set_on_cancel(call, on_cancel, &rpc);
	handoff_take(&rpc.held); /* pairs with take_held(), which read the last call */
	handle_hold(call, request, n, context);
}

const struct rpc_method stream_method = {
	STREAM_PATH, SMALL_BYTES, handle_stream, RPC_SERVER_STREAM};

/* Byte |at| of message |index|. */
static uint8_t stream_byte(unsigned index, size_t at)
{
	return (uint8_t)(index * 7 + at % 251);
}

static void fill(struct chunks *message, unsigned index, size_t n)
{
	uint8_t *p = chunks_reserve(message, n);

	ck_assert_ptr_nonnull(p);
	memset(p, index & 0xff, n);
	if (n) {
		p[0] = stream_byte(index, 0);
		p[n - 1] = stream_byte(index, n - 1);
	}
	chunks_commit(message, n);
}

static int write_next(struct writer *w, struct rpc_call *call, unsigned index)
{
	struct chunks message = CHUNKS_INIT;
	int r;

	fill(&message, index, w->bytes);
	if (rpc_call_flush(call, MOMENT_MS) == -ETIMEDOUT)
		sem_post(&w->blocked);
	r = rpc_call_write(call, &message, w->timeout_ms ? w->timeout_ms : PATIENCE_MS);
	ck_assert_ptr_null(message.chunks);
	if (!r)
		w->n_written++;
	return r;
}

struct rpc_call *take_held(void)
{
	struct rpc_call *call;

	wait_for(&rpc.arrived);
	call = rpc.held;
	handoff_give(&rpc.held);
	return call;
}

static void *write_all(void *argument)
{
	struct writer *w = argument;
	struct rpc_call *call;

	call = take_held();
	for (unsigned i = 0; i < w->n_messages && !w->result; i++)
		w->result = write_next(w, call, i);
	rpc_call_finish(call, w->status, w->text ? w->text : "");
	return NULL;
}

void writer_begin(struct writer *w)
{
	sem_init(&w->blocked, 0, 0);
	ck_assert_int_eq(pthread_create(&w->thread, NULL, write_all, w), 0);
}

void writer_end(struct writer *w)
{
	pthread_join(w->thread, NULL);
}

struct rpc_pending *start_stream(struct rpc_channel *channel, int64_t timeout_ms)
{
	struct rpc_request request = {STREAM_PATH, (const uint8_t *)"x", 1, timeout_ms, 0};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;

	ck_assert_msg(!rpc_stream_start(channel, &request, &pending, &d), "%s", d.text);
	return pending;
}

struct ends {
	uint8_t first;
	uint8_t last;
	size_t n;
};

static int note_ends(const uint8_t *data, size_t n, void *context)
{
	struct ends *ends = context;

	if (!ends->n)
		ends->first = data[0];
	ends->last = data[n - 1];
	ends->n += n;
	return 0;
}

static void check_message(struct rpc_pending *pending, unsigned index, size_t bytes)
{
	struct ends ends = {0, 0, 0};

	ck_assert_uint_eq(rpc_pending_get_bytes(pending), bytes);
	ck_assert_int_eq(rpc_pending_read(pending, note_ends, &ends), 0);
	ck_assert_uint_eq(ends.n, bytes);
	if (bytes) {
		ck_assert_uint_eq(ends.first, stream_byte(index, 0));
		ck_assert_uint_eq(ends.last, stream_byte(index, bytes - 1));
	}
}

void read_one(struct rpc_pending *pending, unsigned index, size_t bytes)
{
	ck_assert_msg(rpc_pending_next(pending, PATIENCE_MS), "no message %u", index);
	check_message(pending, index, bytes);
}

unsigned read_stream(struct rpc_pending *pending, size_t bytes)
{
	unsigned n = 0;

	while (rpc_pending_next(pending, PATIENCE_MS))
		check_message(pending, n++, bytes);
	ck_assert(rpc_pending_has_ended(pending));
	return n;
}
