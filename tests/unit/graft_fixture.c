/* SPDX-License-Identifier: Apache-2.0 */
/* Grafts in a file; see graft_fixture.h. */
#include "tests/unit/graft_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct graft_file graft_file;

static void copy(const struct chunks *c, uint8_t *to)
{
	for (size_t i = 0; i < c->n_chunks; i++) {
		memcpy(to, c->chunks[i].data, c->chunks[i].used_bytes);
		to += c->chunks[i].used_bytes;
	}
}

int graft_fixture_store(const struct chunks *c, uint64_t *offset, void *unused)
{
	(void)unused;
	*offset = graft_file.n_bytes;
	if (c->total_bytes > sizeof graft_file.bytes - graft_file.n_bytes)
		return -ENOSPC;
	copy(c, graft_file.bytes + graft_file.n_bytes);
	graft_file.n_bytes += c->total_bytes;
	return 0;
}

/* The frame, with the ranges of the file in between. */
static uint8_t *join(const struct graft *g, const uint8_t *frame, uint8_t *to)
{
	uint64_t at = 0;

	for (size_t i = 0; i < g->n_ranges; i++) {
		const struct graft_range *range = &g->ranges[i];

		to = mempcpy(to, frame + at, range->at - at);
		to = mempcpy(to, graft_file.bytes + range->offset, range->n_bytes);
		at = range->at;
	}
	return mempcpy(to, frame + at, g->frame.total_bytes - at);
}

uint8_t *graft_fixture_read(const struct graft *g)
{
	uint8_t *bytes = malloc(g->total_bytes + 1);
	uint8_t *frame = malloc(g->frame.total_bytes + 1);

	if (!bytes || !frame)
		abort();
	copy(&g->frame, frame);
	if (join(g, frame, bytes) != bytes + g->total_bytes)
		abort();
	free(frame);
	return bytes;
}
