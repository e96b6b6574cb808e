/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of outlines and of the encoder, in libFuzzer's form. The decoder of the tests is the
 * reference: a space that decodes must encode, and decode again to as many spans.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"
#include "trace/read/outline.h"
#include "trace/xspace/xspace.h"

static uint64_t count_spans(const struct space *space)
{
	struct report_totals totals;

	space_count_totals(space, &totals);
	return totals.n_spans;
}

static void go_round(const struct space *space)
{
	_cleanup_(space_freep) struct space *again = NULL;
	_cleanup_(chunks_deinit) struct chunks out = CHUNKS_INIT;
	_cleanup_free_ uint8_t *bytes = NULL;

	if (xspace_encode(space, &out))
		abort();
	bytes = xspace_flatten(&out);
	if (!bytes || xspace_decode(bytes, out.total_bytes, &again, NULL))
		abort();
	if (count_spans(space) != count_spans(again))
		abort();
}

/* The totals that do not depend on names. */
static bool totals_are_equal(const struct report_totals *a, const struct report_totals *b)
{
	return a->n_spans == b->n_spans && a->n_instants == b->n_instants &&
	       a->n_threads == b->n_threads && a->n_asyncs == b->n_asyncs &&
	       a->n_flow_marks == b->n_flow_marks && a->n_steps == b->n_steps &&
	       a->n_unfinished == b->n_unfinished && a->n_counter_samples == b->n_counter_samples;
}

/* The outline, which needs little memory, accepts the same inputs and counts the same. */
static void check_outline(const uint8_t *data, size_t n_bytes, const struct space *space)
{
	struct report_totals expected;
	struct outline o;
	int r = outline_read(&o, data, n_bytes, NULL, NULL, NULL);

	if (!r != !!space)
		abort();
	if (space) {
		space_count_totals(space, &expected);
		if (!totals_are_equal(&o.totals, &expected))
			abort();
	}
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
