/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that the tests of grafts use. It begins with the child's trace, and the bytes that
 * graft_fixture_store() appended follow.
 */
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

/* The |store| of struct graft: appends to the file. Returns -ENOSPC if the file is full. */
int graft_fixture_store(const struct chunks *c, uint64_t *offset, void *unused);

/* Joins the frame and the ranges of |g|. Returns the result, g->total_bytes bytes, malloc'ed. */
uint8_t *graft_fixture_read(const struct graft *g);

#endif
