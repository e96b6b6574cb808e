/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that come as streams; see stream_answer.h. Field numbers: proto/proftap/v1/profiler.proto. */
#include "client/answer/stream_answer.h"

#include <errno.h>
#include <stdlib.h>

#include <xxhash.h>

#include "rpc/client.h"
#include "trace/pbwire.h"

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

static int fail(struct stream_answer *s, const char *fault)
{
	s->fault = fault;
	return -EBADMSG;
}

/* Walks the numbers of a part; |take| gets each. */
static int read_numbers(struct stream_answer *s, const struct pb_field *part,
	void (*take)(struct stream_answer *s, const struct pb_field *field))
{
	struct pb_reader reader = pb_enter(part);
	struct pb_field field = {0};
	int r;

	while ((r = pb_next(&reader, &field)) > 0)
		take(s, &field);
	return r < 0 ? fail(s, reader.error) : 0;
}

/* Progress. */

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
		return fail(s, "progress behind the trace");
	s->has_progress = true;
	s->progress = (struct stream_progress){.phase = 0};
	return read_numbers(s, part, take_progress);
}

/* Chunks. */

static int read_chunk(struct stream_answer *s, const struct pb_field *part)
{
	if (part->n_bytes == 0)
		return fail(s, "a chunk is empty");
	if (part->n_bytes > MAX_CHUNK_BYTES)
		return fail(s, "a chunk is larger than 1 MiB");
	if (s->progress.xspace_bytes && part->n_bytes > s->progress.xspace_bytes - s->xspace_bytes)
		return fail(s, "more comes than was announced");
	XXH3_64bits_update(s->hash, part->data, part->n_bytes);
	s->xspace_bytes += part->n_bytes;
	return s->write(part->data, part->n_bytes, s->context);
}

/* Trailer. */

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

/* Messages. */

static int read_part(struct stream_answer *s, const struct pb_field *part)
{
	if (s->has_trailer)
		return fail(s, "something comes behind the trailer");
	switch (part->tag) {
	case PB_TAG(1, PB_LEN):
		return read_progress(s, part);
	case PB_TAG(2, PB_LEN):
		return read_chunk(s, part);
	case PB_TAG(3, PB_LEN):
		s->has_trailer = true;
		return read_numbers(s, part, take_trailer);
	default:
		return 0; /* of a later version */
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
	return r < 0 ? fail(s, reader.error) : 0;
}

int stream_answer_take(struct stream_answer *s, struct rpc_pending *pending)
{
	size_t n;
	int r = rpc_pending_copy(pending, s->message, STREAM_ANSWER_MAX_BYTES, &n);

	if (r == -EMSGSIZE)
		return fail(s, "a message is larger than 1 MiB");
	return r ? r : stream_answer_feed(s, s->message, n);
}

int stream_answer_end(struct stream_answer *s)
{
	if (!s->has_trailer)
		return fail(s, "its end is missing");
	if (s->trailer.xspace_bytes != s->xspace_bytes)
		return fail(s, "it is not as long as its trailer says");
	if (s->trailer.xspace_xxh3 != XXH3_64bits_digest(s->hash))
		return fail(s, "its checksum is wrong: it was damaged on the way");
	return 0;
}
