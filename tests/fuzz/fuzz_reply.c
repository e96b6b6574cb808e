/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the client's reader of a ProfileResponse. The first byte says in pieces of which size the rest comes:
 * they must not matter.
 */
#include <stdlib.h>
#include <string.h>

#include "client/reply.h"
#include "tests/fuzz/fuzz.h"

struct sum {
	uint64_t n_bytes;
	uint64_t hash;
};

static int add(const uint8_t *data, size_t n, void *context)
{
	struct sum *sum = context;

	sum->n_bytes += n;
	for (size_t i = 0; i < n; i++)
		sum->hash = (sum->hash ^ data[i]) * 0x100000001b3;
	return 0;
}

static int read_in_pieces(const uint8_t *data, size_t n, size_t piece, struct reply *reply)
{
	int r = 0;

	for (size_t at = 0; at < n && !r; at += piece)
		r = reply_feed(data + at, n - at < piece ? n - at : piece, reply);
	return r ? r : reply_end(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct sum sums[2] = {{0, 0}, {0, 0}};
	struct reply whole = REPLY_INIT(add, &sums[0]);
	struct reply pieces = REPLY_INIT(add, &sums[1]);
	int r;

	if (n_bytes < 2)
		return 0;
	r = read_in_pieces(data + 1, n_bytes - 1, n_bytes, &whole);
	if (read_in_pieces(data + 1, n_bytes - 1, data[0] + 1u, &pieces) != r)
		abort();
	if (!r && (memcmp(&sums[0], &sums[1], sizeof sums[0]) ||
			  whole.has_xspace != pieces.has_xspace || whole.n_tools != pieces.n_tools))
		abort();
	if (whole.xspace_bytes > n_bytes && whole.has_xspace && !r)
		abort();
	if (strnlen(whole.first_tool, sizeof whole.first_tool) == sizeof whole.first_tool)
		abort();
	return 0;
}
