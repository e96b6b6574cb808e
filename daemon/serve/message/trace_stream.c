/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a stream; see trace_stream.h. */
#include "daemon/serve/message/trace_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <xxhash.h>

#include "base/chunks.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "base/log.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/progress.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/stream_room.h"
#include "daemon/serve/message/trace_part.h"
#include "rpc/server.h"

/* --- places --------------------------------------------------------------------------------- */

static atomic_uint *get_count(const struct stream_place *p)
{
	return p->is_for_later ? &p->all->n_waiting : &p->all->n;
}

static void leave_place(const struct stream_place *p)
{
	atomic_fetch_sub(get_count(p), 1);
}

/* Counts the stream. 0, or -EUSERS: there are too many streams of its kind. */
static int take_place(const struct stream_place *p)
{
	unsigned max = p->is_for_later ? TRACE_STREAM_MAX_WAITING : TRACE_STREAM_MAX;

	if (atomic_fetch_add(get_count(p), 1) < max)
		return 0;
	leave_place(p);
	return -EUSERS;
}

/*
 * Counts the stream as one with a trace, even beyond TRACE_STREAM_MAX: such streams come one by
 * one, because only one trace is recorded at a time.
 */
static void change_place(struct stream_place *p)
{
	if (!p->is_for_later)
		return;
	leave_place(p);
	p->is_for_later = false;
	atomic_fetch_add(get_count(p), 1);
}

/* --- chunks --------------------------------------------------------------------------------- */

struct stream_writing {
	struct rpc_call *call;
	struct delivery *delivery;
	int64_t idle_ms;
	struct stream_room *room;
	XXH3_state_t *sum;
};

/* Appends a copy of |n| bytes. 0, -ENOMEM or -EIO. */
static int copy_chunk(struct stream_writing *w, struct chunks *message, size_t n)
{
	uint8_t *data = trace_part_add_chunk(message, n);
	int r = data ? delivery_read_all(w->delivery, data, n) : -ENOMEM;

	return r && r != -ENOMEM ? -EIO : r;
}

/* Appends at most |n| bytes without a copy; *n_out is their number. */
static int lend_chunk(struct stream_writing *w, struct chunks *message, size_t n, size_t *n_out)
{
	struct chunks lent = CHUNKS_INIT;

	*n_out = delivery_lend(w->delivery, n, &lent);
	if (*n_out) {
		trace_part_add_head(message, *n_out);
		chunks_take(message, &lent);
	}
	return message->error;
}

/* Adds the last |n| bytes of |message| to the checksum; they lie in its last chunk. */
static void add_sum(XXH3_state_t *sum, const struct chunks *message, size_t n)
{
	const struct chunk *last = &message->chunks[message->n_chunks - 1];

	XXH3_64bits_update(sum, last->data + last->used_bytes - n, n);
}

/* Writes at most *n bytes; *n becomes their number. */
static int write_chunk(struct stream_writing *w, size_t *n)
{
	struct chunks message = CHUNKS_INIT;
	size_t n_lent;
	int r;

	stream_room_lend(w->room, &message);
	r = lend_chunk(w, &message, *n, &n_lent);
	if (n_lent)
		*n = n_lent;
	else if (!r)
		r = copy_chunk(w, &message, *n);
	if (r) {
		chunks_deinit(&message);
		return r;
	}
	add_sum(w->sum, &message, *n);
	return rpc_call_write(w->call, &message, w->idle_ms);
}

static size_t find_part_bytes(const struct rpc_call *call)
{
	char target[TRACE_PART_WORD_BYTES];

	rpc_call_get_target(call, target, sizeof target);
	return trace_part_find_bytes(target);
}

static int write_all(struct stream_writing *w)
{
	uint64_t left = delivery_get_bytes(w->delivery);
	size_t part_bytes = find_part_bytes(w->call);
	int r = 0;

	XXH3_64bits_reset(w->sum);
	while (left && !r) {
		size_t n = left < part_bytes ? left : part_bytes;

		r = write_chunk(w, &n);
		left -= n;
	}
	return r;
}

/*
 * Writes all of |delivery|, of which nothing was read yet; *xxh3 is its checksum. 0, or a negative
 * errno: rpc_call_write()'s, -ENOMEM, or -EIO when the trace cannot be read back.
 */
static int trace_chunks_write(
	struct rpc_call *call, struct delivery *delivery, int64_t idle_ms, uint64_t *xxh3)
{
	struct stream_writing w = {
		.call = call,
		.delivery = delivery,
		.idle_ms = idle_ms,
		.room = stream_room_new(),
		.sum = XXH3_createState(),
	};
	int r = w.room && w.sum ? write_all(&w) : -ENOMEM;

	if (r == 0)
		*xxh3 = XXH3_64bits_digest(w.sum);
	stream_room_release(w.room);
	XXH3_freeState(w.sum);
	return r;
}

/* --- the stream ----------------------------------------------------------------------------- */

#define STACK_BYTES (256u << 10)

enum {
	STREAM_PREPARED,
	STREAM_STARTED,
	STREAM_ENDED, /* the outcome is known */
	STREAM_ABANDONED,
};

/*
 * A stream has three holders: its thread, the caller that starts it, and the caller that ends it.
 */
struct trace_stream {
	struct rpc_call *call;
	struct trace_stream_config config;
	struct progress progress;
	_Atomic uint32_t state; /* STREAM_; a futex */
	_Atomic int n_holders;
	int r; /* the outcome; set before STREAM_ENDED */
	struct capture_result result;
	struct diag diag;
};

static void release_stream(struct trace_stream *s, int n_holders)
{
	if (atomic_fetch_sub(&s->n_holders, n_holders) != n_holders)
		return;
	delivery_free(s->result.delivery);
	free(s);
}

/* Waits while the stream's state is |state|, until |deadline_ns|. */
static uint32_t await_change(struct trace_stream *s, uint32_t state, int64_t deadline_ns)
{
	while (atomic_load(&s->state) == state && monotonic_ns() < deadline_ns)
		futex_wait_until(&s->state, state, deadline_ns);
	return atomic_load(&s->state);
}

/* --- messages ------------------------------------------------------------------------------- */

static int write_progress(
	struct trace_stream *s, const struct capture_result *result, int64_t timeout_ms)
{
	struct chunks message = CHUNKS_INIT;

	trace_part_add_progress(&message, &s->progress, result);
	return rpc_call_write(s->call, &message, timeout_ms);
}

/*
 * Writes progress until the state changes. A slow client does not receive every message. If the
 * client goes away, its session ends, which changes the state.
 */
static void tell_progress(struct trace_stream *s)
{
	while (s->config.interval_ms && atomic_load(&s->state) == STREAM_STARTED) {
		if (!rpc_call_flush(s->call, 0))
			write_progress(s, NULL, 0);
		await_change(s, STREAM_STARTED, monotonic_ns() + s->config.interval_ms * NS_PER_MS);
	}
}

static int write_trailer(struct trace_stream *s, uint64_t xxh3)
{
	struct chunks message = CHUNKS_INIT;
	int r;

	trace_part_add_trailer(&message, &s->result, delivery_get_bytes(s->result.delivery), xxh3);
	r = rpc_call_write(s->call, &message, s->config.idle_ms);
	return r ? r : rpc_call_flush(s->call, s->config.idle_ms);
}

static int write_trace(struct trace_stream *s)
{
	uint64_t xxh3;
	int r = 0;

	if (s->config.interval_ms)
		r = write_progress(s, &s->result, s->config.idle_ms);
	if (!r)
		r = trace_chunks_write(s->call, s->result.delivery, s->config.idle_ms, &xxh3);
	if (!r)
		r = write_trailer(s, xxh3);
	return r;
}

/* --- the end -------------------------------------------------------------------------------- */

static void finish_delivery(struct trace_stream *s, int r)
{
	switch (r) {
	case 0:
		rpc_call_finish(s->call, RPC_OK, "");
		break;
	case -ECANCELED:
		rpc_call_finish(s->call, RPC_CANCELLED, "the client went away");
		break;
	case -ETIMEDOUT:
		log_warn(LOG_RPC,
			"a trace was not delivered: its reader took nothing for %" PRId64 " s",
			s->config.idle_ms / 1000);
		rpc_call_finish(s->call, RPC_ABORTED,
			"the trace was not delivered: the client read none of it for too long");
		break;
	case -EIO:
		rpc_call_finish(s->call, RPC_DATA_LOSS,
			"the recording could not be read back from the server's disk");
		break;
	default:
		reply_v1_failure(s->call, r, &s->diag);
		break;
	}
}

static void deliver_trace(struct trace_stream *s)
{
	int r = s->r ? 0 : write_trace(s);

	/*
	 * Leave the place before the client sees the end, because it may then ask for the next
	 * trace.
	 */
	s->result.delivery = delivery_free(s->result.delivery);
	leave_place(&s->config.place);
	if (s->r)
		reply_v1_failure(s->call, s->r, &s->diag);
	else
		finish_delivery(s, r);
	if (!s->r && !r)
		capture_result_note_taken(&s->result);
}

static void *run_stream(void *argument)
{
	struct trace_stream *s = argument;

	await_change(s, STREAM_PREPARED, INT64_MAX);
	tell_progress(s);
	if (await_change(s, STREAM_STARTED, INT64_MAX) == STREAM_ENDED)
		deliver_trace(s);
	else
		leave_place(&s->config.place);
	release_stream(s, 1);
	return NULL;
}

static int start_thread(struct trace_stream *s)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attributes, run_stream, s);
	pthread_attr_destroy(&attributes);
	if (!r)
		pthread_setname_np(thread, "ptap-stream");
	return -r;
}

int trace_stream_new(
	struct rpc_call *call, const struct trace_stream_config *config, struct trace_stream **out)
{
	struct trace_stream *s;
	int r = take_place(&config->place);

	if (r)
		return r;
	s = calloc(1, sizeof *s);
	r = s ? 0 : -ENOMEM;
	if (!r) {
		s->call = call;
		s->config = *config;
		s->n_holders = 3;
		r = start_thread(s);
	}
	if (r) {
		leave_place(&config->place);
		free(s);
		return r;
	}
	*out = s;
	return 0;
}

struct progress *trace_stream_get_progress(struct trace_stream *s)
{
	return &s->progress;
}

static void set_state(struct trace_stream *s, uint32_t state)
{
	atomic_store(&s->state, state);
	futex_wake(&s->state, 1);
}

void trace_stream_start(struct trace_stream *s)
{
	uint32_t prepared = STREAM_PREPARED;

	if (atomic_compare_exchange_strong(&s->state, &prepared, STREAM_STARTED))
		futex_wake(&s->state, 1);
	release_stream(s, 1);
}

void trace_stream_end(
	struct trace_stream *s, int r, struct capture_result *result, const struct diag *d)
{
	s->r = r;
	s->result = *result;
	result->delivery = NULL;
	if (d)
		s->diag = *d;
	if (!r)
		change_place(&s->config.place);
	set_state(s, STREAM_ENDED);
	release_stream(s, 1);
}

void trace_stream_abandon(struct trace_stream *s)
{
	set_state(s, STREAM_ABANDONED);
	release_stream(s, 2);
}
