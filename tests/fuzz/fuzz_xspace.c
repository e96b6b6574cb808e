/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the XSpace decoder, in libFuzzer's form. A space that decodes must encode, and
 * decode again to as many events.
 */
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/space_totals.h"
#include "trace/model/space.h"
#include "trace/read/outline.h"
#include "trace/xspace/xspace.h"

static uint64_t count_spans(const struct space *space)
{
	struct report_totals totals;

	space_count_totals(space, &totals);
	return totals.n_spans;
}

/* Returns one contiguous copy; NULL when memory ran out. */
static uint8_t *flatten(const struct chunks *c)
{
	uint8_t *bytes = malloc(c->total_bytes + 1);
	size_t n = 0;

	for (size_t i = 0; bytes && i < c->n_chunks; i++) {
		memcpy(bytes + n, c->chunks[i].data, c->chunks[i].used_bytes);
		n += c->chunks[i].used_bytes;
	}
	return bytes;
}

static void go_round(const struct space *space)
{
	_cleanup_(space_freep) struct space *again = NULL;
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
	_cleanup_free_ uint8_t *bytes = NULL;

	if (xspace_encode(space, &out))
		abort();
	bytes = flatten(&out);
	if (!bytes || xspace_decode(bytes, out.total_bytes, &again, NULL))
		abort();
	if (count_spans(space) != count_spans(again))
		abort();
}

/* The outline, which needs little memory, accepts the same inputs and counts as many spans. */
static void check_outline(const uint8_t *data, size_t n_bytes, const struct space *space)
{
	struct outline o;
	int r = outline_read(&o, data, n_bytes, NULL, NULL, NULL);

	if (!r != !!space || (space && o.totals.n_spans != count_spans(space)))
		abort();
	outline_deinit(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_(space_freep) struct space *space = NULL;

	if (xspace_decode(data, n_bytes, &space, NULL) == 0)
		go_round(space);
	check_outline(data, n_bytes, space);
	return 0;
}
