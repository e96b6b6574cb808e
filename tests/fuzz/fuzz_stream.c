/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of both readers of a streamed trace, the client's and the server's (for its
 * subprocesses). The input is messages, each after a byte with its length. The bytes passed on are
 * counted correctly, a fault has a message, and only a stream with its trailer ends well. If both
 * readers accept a stream, they have read the same.
 */
#include <errno.h>
#include <stdlib.h>

#include <xxhash.h>

#include "client/answer/stream_answer.h"
#include "daemon/serve/remote/remote_capture.h"
#include "daemon/serve/remote/remote_trace.h"
#include "tests/fuzz/fuzz.h"

static int add(const uint8_t *data, size_t n, void *context)
{
	uint64_t *n_bytes = context;

	/* An empty message ends the stream: the trailer has come. */
	if (!data != !n)
		abort();
	*n_bytes += n;
	return 0;
}

typedef int feed(void *reader, const uint8_t *message, size_t n);

static int feed_all(feed *feed_one, void *reader, const uint8_t *data, size_t n_bytes)
{
	int r = 0;

	for (size_t at = 0; at < n_bytes && !r;) {
		size_t left = n_bytes - at - 1;
		size_t n = data[at] < left ? data[at] : left;

		r = feed_one(reader, data + at + 1, n);
		at += 1 + n;
	}
	return r;
}

static int feed_client(void *reader, const uint8_t *message, size_t n)
{
	return stream_answer_feed(reader, message, n);
}

static int feed_server(void *reader, const uint8_t *message, size_t n)
{
	return remote_capture_feed(reader, message, n);
}

static int read_as_client(struct stream_answer *s, const uint8_t *data, size_t n_bytes)
{
	uint64_t *n_written = s->context;
	int r = feed_all(feed_client, s, data, n_bytes);

	if (!r)
		r = stream_answer_end(s);
	if (r != 0 && (r != -EBADMSG || !s->fault))
		abort();
	if (s->xspace_bytes != *n_written || *n_written > n_bytes)
		abort();
	if (r == 0 && (!s->has_trailer || s->trailer.xspace_bytes != *n_written))
		abort();
	return r;
}

static int read_as_server(struct remote_capture *c, const uint8_t *data, size_t n_bytes)
{
	int r = feed_all(feed_server, c, data, n_bytes);

	if (r && r != -EBADMSG && !c->error[0])
		abort();
	if ((r && c->is_complete) || remote_trace_get_bytes(&c->trace) > n_bytes)
		abort();
	return c->is_complete ? 0 : -EBADMSG;
}

static void check_same(const struct stream_answer *s, const struct remote_capture *c)
{
	const struct stream_trailer *t = &s->trailer;

	if (s->xspace_bytes != remote_trace_get_bytes(&c->trace) || t->n_events != c->n_events ||
		t->n_dropped != c->n_dropped || t->start_unix_ns != c->start_unix_ns ||
		t->is_empty != !!c->is_empty)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint64_t n_written = 0;
	struct disk_share share = {.max_bytes = 1u << 20};
	struct stream_answer s = {.write = add, .context = &n_written};
	struct remote_capture c = {.trace.share = &share, .sum = XXH3_createState()};
	int r = stream_answer_init(&s);

	if (!r && c.sum) {
		XXH3_64bits_reset(c.sum);
		r = read_as_client(&s, data, n_bytes);
		if (!read_as_server(&c, data, n_bytes) && !r)
			check_same(&s, &c);
	}
	stream_answer_deinit(&s);
	remote_capture_deinit(&c);
	if (share.used_bytes)
		abort();
	return 0;
}
