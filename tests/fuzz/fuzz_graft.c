/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of grafts: traces of children, whose servers may send anything, become parts of
 * their parent's trace. The first two bytes are the number of microseconds by which the child began
 * later (negative: earlier), the rest is the trace. A trace that was readable stays readable, and
 * each event is kept or counted as left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/graft_fixture.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"

#define PID 4242

static int pass(const uint8_t *p, void *end)
{
	if (p < graft_file.bytes || p > (const uint8_t *)end)
		abort();
	return 0;
}

static void check_made(const struct graft *g, const struct space *before)
{
	_cleanup_free_ uint8_t *bytes = graft_fixture_read(g);
	_cleanup_(space_freep) struct space *after = NULL;

	if (xspace_decode(bytes, g->total_bytes, &after, NULL))
		abort();
	/*
	 * Spans and instants count alike: a span beyond the range of times can become an instant,
	 * or the reverse.
	 */
	if (space_count_events(after) + g->n_left_out != space_count_events(before))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_(space_freep) struct space *before = NULL;
	struct graft g = {.data = graft_file.bytes, .pid = PID, .pass = pass};
	int r;

	if (n_bytes < 2 || n_bytes > sizeof graft_file.bytes / 4)
		return 0;
	g.n_bytes = graft_file.n_bytes = n_bytes - 2;
	memcpy(graft_file.bytes, data + 2, g.n_bytes);
	g.shift_ns = (int16_t)(data[0] << 8 | data[1]) * INT64_C(1000);
	g.store = graft_fixture_store;
	g.context = graft_file.bytes + g.n_bytes;
	r = graft_make(&g);
	if (r && r != -EBADMSG && r != -ENOSPC)
		abort();
	if (!r && xspace_decode(data + 2, g.n_bytes, &before, NULL) == 0)
		check_made(&g, before);
	graft_deinit(&g);
	return 0;
}
