/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the client's reader of a streamed trace: messages, each with a byte before it that is its length. What is
 * handed on is counted right, a fault has words, and only a stream with its trailer ends well.
 */
#include <errno.h>
#include <stdlib.h>

#include "client/stream_answer.h"
#include "tests/fuzz/fuzz.h"

static int add(const uint8_t *data, size_t n, void *context)
{
	uint64_t *n_bytes = context;

	if (!data || !n)
		abort();
	*n_bytes += n;
	return 0;
}

static int feed_all(struct stream_answer *s, const uint8_t *data, size_t n_bytes)
{
	for (size_t at = 0; at < n_bytes;) {
		size_t left = n_bytes - at - 1;
		size_t n = data[at] < left ? data[at] : left;
		int r = stream_answer_feed(s, data + at + 1, n);

		if (r)
			return r;
		at += 1 + n;
	}
	return stream_answer_end(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint64_t n_written = 0;
	struct stream_answer s = {.write = add, .context = &n_written};
	int r = stream_answer_init(&s);

	if (!r) {
		r = feed_all(&s, data, n_bytes);
		if (r != 0 && (r != -EBADMSG || !s.fault))
			abort();
		if (s.xspace_bytes != n_written || n_written > n_bytes)
			abort();
		if (r == 0 && (!s.has_trailer || s.trailer.xspace_bytes != n_written))
			abort();
	}
	stream_answer_deinit(&s);
	return 0;
}
