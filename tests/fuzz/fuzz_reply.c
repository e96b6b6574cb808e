/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of both parsers of a ProfileResponse. The client's parser gets the response in
 * pieces, whose size the first byte selects; the result must not depend on that size. The server's
 * parser, for NewSession, gets the whole response at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "client/answer/reply.h"
#include "daemon/serve/remote/remote_profile.h"
#include "daemon/serve/remote/remote_trace.h"
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

static void read_as_server(const uint8_t *data, size_t n)
{
	struct disk_share share = {.max_bytes = 1u << 20};
	struct remote_profile p = {.trace.share = &share};
	struct diag d = DIAG_INIT;
	int r = remote_profile_feed(&p, data, n, &d);

	if (r > 0 || (r && r != -EBADMSG && r != -ENOMEM && !d.text[0]))
		abort();
	if (remote_trace_get_bytes(&p.trace) > n)
		abort();
	remote_profile_deinit(&p);
	if (share.used_bytes)
		abort();
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
	read_as_server(data + 1, n_bytes - 1);
	return 0;
}
