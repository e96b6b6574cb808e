/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that come as streams; see stream_answer.h. Field numbers: proto/proftap/v1/profiler.proto.
 */
#include "client/answer/stream_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "rpc/client.h"
#include "trace/xspace/pbwire.h"

#define MAX_CHUNK_BYTES (1 << 20)

int stream_answer_init(struct stream_answer *s)
{
	s->hash = XXH3_createState();
	s->message = malloc(STREAM_ANSWER_MAX_BYTES);
	if (!s->hash || !s->message)
		return -ENOMEM;
	XXH3_64bits_reset(s->hash);
	return 0;
}

void stream_answer_deinit(struct stream_answer *s)
{
	XXH3_freeState(s->hash);
	free(s->message);
	s->hash = NULL;
	s->message = NULL;
}

static int fail_stream(struct stream_answer *s, const char *fault)
{
	s->fault = fault;
	return -EBADMSG;
}

/* Calls |take| for each field of |part|, a message that has only numbers. */
static int read_numbers(struct stream_answer *s, const struct pb_field *part,
	void (*take)(struct stream_answer *s, const struct pb_field *field))
{
	struct pb_reader reader = pb_enter(part);
	struct pb_field field = {0};
	int r;

	while ((r = pb_next(&reader, &field)) > 0)
		take(s, &field);
	return r < 0 ? fail_stream(s, reader.error) : 0;
}

/* --- progress ------------------------------------------------------------------------------ */

static void take_progress(struct stream_answer *s, const struct pb_field *field)
{
	struct stream_progress *p = &s->progress;

	switch (field->tag) {
	case PB_TAG(1, PB_VARINT):
		p->phase = (uint32_t)field->value;
		break;
	case PB_TAG(2, PB_VARINT):
		p->elapsed_ns = field->value;
		break;
	case PB_TAG(3, PB_VARINT):
		p->recorded_bytes = field->value;
		break;
	case PB_TAG(4, PB_VARINT):
		p->spooled_bytes = field->value;
		break;
	case PB_TAG(5, PB_VARINT):
		p->xspace_bytes = field->value;
		break;
	}
}

static int read_progress(struct stream_answer *s, const struct pb_field *part)
{
	if (s->xspace_bytes)
		return fail_stream(s, "a progress message follows the trace");
	s->has_progress = true;
	s->progress = (struct stream_progress){.phase = 0};
	return read_numbers(s, part, take_progress);
}

/* --- chunks -------------------------------------------------------------------------------- */

/* Checks whether a chunk of |n| bytes may come now. */
static int check_chunk(struct stream_answer *s, uint64_t n)
{
	if (s->has_trailer)
		return fail_stream(s, "data follows the trailer");
	if (n == 0)
		return fail_stream(s, "a chunk is empty");
	if (n > MAX_CHUNK_BYTES)
		return fail_stream(s, "a chunk is larger than 1 MiB");
	if (s->progress.xspace_bytes && n > s->progress.xspace_bytes - s->xspace_bytes)
		return fail_stream(s, "more data came than was announced");
	return 0;
}

static int take_bytes(struct stream_answer *s, const uint8_t *data, size_t n)
{
	XXH3_64bits_update(s->hash, data, n);
	s->xspace_bytes += n;
	return s->write(data, n, s->context);
}

static int read_chunk(struct stream_answer *s, const struct pb_field *part)
{
	int r = check_chunk(s, part->n_bytes);

	return r ? r : take_bytes(s, part->data, part->n_bytes);
}

/* --- trailer ------------------------------------------------------------------------------- */

static void take_trailer(struct stream_answer *s, const struct pb_field *field)
{
	struct stream_trailer *t = &s->trailer;

	switch (field->tag) {
	case PB_TAG(1, PB_VARINT):
		t->xspace_bytes = field->value;
		break;
	case PB_TAG(2, PB_FIXED64):
		t->xspace_xxh3 = field->value;
		break;
	case PB_TAG(3, PB_VARINT):
		t->is_empty = field->value != 0;
		break;
	case PB_TAG(4, PB_VARINT):
		t->n_events = field->value;
		break;
	case PB_TAG(5, PB_VARINT):
		t->n_dropped = field->value;
		break;
	case PB_TAG(6, PB_VARINT):
		t->start_unix_ns = field->value;
		break;
	case PB_TAG(7, PB_VARINT):
		t->duration_ns = field->value;
		break;
	}
}

/* --- messages ------------------------------------------------------------------------------ */

static int read_part(struct stream_answer *s, const struct pb_field *part)
{
	int r;

	if (s->has_trailer)
		return fail_stream(s, "data follows the trailer");
	switch (part->tag) {
	case PB_TAG(1, PB_LEN):
		return read_progress(s, part);
	case PB_TAG(2, PB_LEN):
		return read_chunk(s, part);
	case PB_TAG(3, PB_LEN):
		s->has_trailer = true;
		r = read_numbers(s, part, take_trailer);
		return r ? r : s->write(NULL, 0, s->context);
	default:
		return 0; /* a later version has more fields */
	}
}

int stream_answer_feed(struct stream_answer *s, const uint8_t *message, size_t n)
{
	struct pb_reader reader = pb_reader(message, n);
	struct pb_field part = {0};
	int r;

	while ((r = pb_next(&reader, &part)) > 0) {
		r = read_part(s, &part);
		if (r)
			return r;
	}
	return r < 0 ? fail_stream(s, reader.error) : 0;
}

/* A message that arrives in pieces. */
struct message_pieces {
	struct stream_answer *s;
	uint64_t n_bytes; /* the size of the message */
	size_t n_copied; /* the bytes that are copied to s->message */
	bool is_chunk; /* the message is one chunk, whose bytes are passed on without a copy */
	bool is_begun;
};

static int copy_piece(struct message_pieces *p, const uint8_t *data, size_t n)
{
	if (n > STREAM_ANSWER_MAX_BYTES - p->n_copied)
		return fail_stream(p->s, "a message is larger than 1 MiB");
	memcpy(p->s->message + p->n_copied, data, n);
	p->n_copied += n;
	return 0;
}

static int take_piece(const uint8_t *data, size_t n, void *context)
{
	struct message_pieces *p = context;
	size_t head = 0;
	int r = 0;

	if (!p->is_begun) {
		p->is_begun = true;
		p->is_chunk = pb_is_one_field(data, n, p->n_bytes, PB_TAG(2, PB_LEN), &head);
		if (p->is_chunk)
			r = check_chunk(p->s, p->n_bytes - head);
	}
	if (r)
		return r;
	if (!p->is_chunk)
		return copy_piece(p, data, n);
	return n > head ? take_bytes(p->s, data + head, n - head) : 0;
}

int stream_answer_take(struct stream_answer *s, struct rpc_pending *pending)
{
	struct message_pieces p = {.s = s, .n_bytes = rpc_pending_get_bytes(pending)};
	int r = rpc_pending_read(pending, take_piece, &p);

	return r || p.is_chunk ? r : stream_answer_feed(s, s->message, p.n_copied);
}

int stream_answer_end(struct stream_answer *s)
{
	if (!s->has_trailer)
		return fail_stream(s, "its end is missing");
	if (s->trailer.xspace_bytes != s->xspace_bytes)
		return fail_stream(s, "its length differs from that in its trailer");
	if (s->trailer.xspace_xxh3 != XXH3_64bits_digest(s->hash))
		return fail_stream(s, "its checksum is wrong: it was damaged on the way");
	return 0;
}
