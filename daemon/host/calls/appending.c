/* SPDX-License-Identifier: Apache-2.0 */
/* Streams with an appended part; see appending.h. */
#include "daemon/host/calls/appending.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "daemon/host/calls/machine_part.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/trace_part.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/client.h"
#include "trace/xspace/pbwire.h"

#define TAG_CHUNK PB_TAG(2, PB_LEN) /* CaptureReply.chunk */

typedef Proftap__V1__CaptureReply Reply;
typedef Proftap__V1__MachineUsage Usage;

void appending_init(struct appending *a, struct machine *m)
{
	*a = (struct appending){.machine = m, .sum = XXH3_createState()};
	if (a->sum)
		XXH3_64bits_reset(a->sum);
}

static void drop_reply(struct appending *a)
{
	if (a->reply)
		proftap__v1__capture_reply__free_unpacked(a->reply, NULL);
	a->reply = NULL;
}

void appending_deinit(struct appending *a)
{
	drop_reply(a);
	a->part = delivery_free(a->part);
	XXH3_freeState(a->sum);
	a->sum = NULL;
}

/* --- the part --------------------------------------------------------------------------------- */

static void make_part(struct appending *a, const Usage *wanted)
{
	const struct machine_window window = {wanted->start_ns, wanted->duration_ns};
	struct chunks encoded = CHUNKS_INIT;

	if (a->has_part)
		return;
	a->has_part = true;
	if (machine_part_append(a->machine, &window, &encoded, &a->n_events) ||
		!encoded.total_bytes || delivery_new_from_chunks(&encoded, &a->part))
		chunks_deinit(&encoded);
	a->part_bytes = a->part_left = delivery_get_bytes(a->part);
}

/* Makes the part for |wanted|, which is NULL afterwards. */
static void add_part(struct appending *a, Usage **wanted)
{
	if (!*wanted)
		return;
	make_part(a, *wanted);
	proftap__v1__machine_usage__free_unpacked(*wanted, NULL);
	*wanted = NULL;
}

/* --- messages from the program's server ------------------------------------------------------- */

/* Each bool function up to appending_read_message() returns true if it has changed the message. */

static bool take_chunk(struct appending *a, const uint8_t *data, size_t n)
{
	XXH3_64bits_update(a->sum, data, n);
	a->n_bytes += n;
	return false;
}

static bool take_progress(struct appending *a, Proftap__V1__Progress *progress)
{
	if (!progress->machine_usage)
		return false;
	add_part(a, &progress->machine_usage);
	progress->xspace_bytes += a->part_bytes;
	return true;
}

static bool take_trailer(struct appending *a, Proftap__V1__Trailer *trailer)
{
	if (trailer->xspace_bytes != a->n_bytes ||
		trailer->xspace_xxh3 != XXH3_64bits_digest(a->sum))
		return false;
	add_part(a, &trailer->machine_usage);
	trailer->xspace_bytes += a->part_bytes;
	trailer->n_events += a->n_events;
	return true;
}

static bool take_reply(struct appending *a, Reply *reply)
{
	switch (reply->part_case) {
	case PROFTAP__V1__CAPTURE_REPLY__PART_PROGRESS:
		return take_progress(a, reply->progress);
	case PROFTAP__V1__CAPTURE_REPLY__PART_CHUNK:
		return take_chunk(a, reply->chunk.data, reply->chunk.len);
	case PROFTAP__V1__CAPTURE_REPLY__PART_TRAILER:
		return take_trailer(a, reply->trailer);
	default:
		return false; /* a message of a later version */
	}
}

/* Takes a message that is no chunk, or a chunk with a head in several pieces. Most are small. */
static bool take_copy(struct appending *a, struct rpc_pending *from)
{
	size_t n = rpc_pending_get_bytes(from);
	_cleanup_free_ uint8_t *data = malloc(n + 1);

	if (!data || rpc_pending_copy(from, data, n, &n))
		return false;
	a->reply = proftap__v1__capture_reply__unpack(NULL, n, data);
	if (!a->reply)
		return false;
	if (take_reply(a, a->reply))
		return true;
	drop_reply(a);
	return false;
}

/* A message in the pieces in which it came. */
struct pieces {
	struct appending *a;
	uint64_t n_bytes; /* of the message */
	bool is_begun;
};

/* Returns 1 if the message is not a chunk. */
static int take_piece(const uint8_t *data, size_t n, void *context)
{
	struct pieces *p = context;
	size_t head = 0;

	if (!p->is_begun && !pb_is_one_field(data, n, p->n_bytes, TAG_CHUNK, &head))
		return 1;
	p->is_begun = true;
	return take_chunk(p->a, data + head, n - head);
}

bool appending_read_message(struct appending *a, struct rpc_pending *from)
{
	struct pieces p = {a, rpc_pending_get_bytes(from), 0};

	if (!a->sum)
		return false;
	return rpc_pending_read(from, take_piece, &p) ? take_copy(a, from) : false;
}

/* --- messages to the client ------------------------------------------------------------------- */

static void write_chunk(struct appending *a, struct chunks *message)
{
	size_t n = a->part_left < TRACE_PART_PASSED_BYTES ? (size_t)a->part_left
							  : TRACE_PART_PASSED_BYTES;
	uint8_t *data = trace_part_add_chunk(message, n);

	if (data && delivery_read_all(a->part, data, n))
		message->error = -EIO;
	if (data)
		take_chunk(a, data, n);
	a->part_left -= n;
}

bool appending_next(struct appending *a, struct chunks *message)
{
	bool is_trailer;

	if (!a->reply)
		return false;
	is_trailer = a->reply->part_case == PROFTAP__V1__CAPTURE_REPLY__PART_TRAILER;
	if (is_trailer && a->part_left) {
		write_chunk(a, message);
		return true;
	}
	if (is_trailer)
		a->reply->trailer->xspace_xxh3 = XXH3_64bits_digest(a->sum);
	reply_message_append(message, &a->reply->base);
	drop_reply(a);
	return true;
}
