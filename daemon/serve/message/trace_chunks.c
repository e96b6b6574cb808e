/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks; see trace_chunks.h. */
#include "daemon/serve/message/trace_chunks.h"

#include <errno.h>
#include <stddef.h>

#include <xxhash.h>

#include "base/chunks.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/serve/message/stream_room.h"
#include "daemon/serve/message/trace_part.h"
#include "rpc/server.h"

struct writing {
	struct rpc_call *call;
	struct delivery *delivery;
	int64_t idle_ms;
	struct stream_room *room;
	XXH3_state_t *sum;
};

/* |n| bytes, copied. 0, -ENOMEM or -EIO. */
static int copy_chunk(struct writing *w, struct chunks *message, size_t n)
{
	uint8_t *data = trace_part_add_chunk(message, n);
	int r = data ? delivery_read_all(w->delivery, data, n) : -ENOMEM;

	return r && r != -ENOMEM ? -EIO : r;
}

/* Where they lie, |n| bytes or fewer: *n_out. */
static int lend_chunk(struct writing *w, struct chunks *message, size_t n, size_t *n_out)
{
	struct chunks lent = CHUNKS_INIT;

	*n_out = delivery_lend(w->delivery, n, &lent);
	if (*n_out) {
		trace_part_add_head(message, *n_out);
		chunks_take(message, &lent);
	}
	return message->error;
}

/* The last |n| bytes of |message|, which lie in its last chunk. */
static void add_sum(XXH3_state_t *sum, const struct chunks *message, size_t n)
{
	const struct chunk *last = &message->chunks[message->n_chunks - 1];

	XXH3_64bits_update(sum, last->data + last->used_bytes - n, n);
}

/* *n is how many bytes there are at most, and then how many were written. */
static int write_chunk(struct writing *w, size_t *n)
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

static int write_all(struct writing *w)
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

int trace_chunks_write(
	struct rpc_call *call, struct delivery *delivery, int64_t idle_ms, uint64_t *xxh3)
{
	struct writing w = {
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
