/* SPDX-License-Identifier: Apache-2.0 */
/* The file that grafts are made in: the child's trace, and behind it what was stored. */
#ifndef TESTS_UNIT_GRAFT_FIXTURE_H
#define TESTS_UNIT_GRAFT_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/xspace/graft.h"

struct graft_file {
	uint8_t bytes[4 << 20];
	size_t n_bytes;
};

extern struct graft_file graft_file;

/* A graft's |store|; -ENOSPC when the file is full. */
int graft_fixture_store(const struct chunks *c, uint64_t *offset, void *unused);

/* The result of a graft: malloc'ed, g->total_bytes of it. */
uint8_t *graft_fixture_read(const struct graft *g);

#endif
