/* SPDX-License-Identifier: Apache-2.0 */
/* The packets that the Perfetto codec makes of the fixture's view, as text that tests compare. */
#ifndef TESTS_UNIT_PERFETTO_FIXTURE_H
#define TESTS_UNIT_PERFETTO_FIXTURE_H

#include <stddef.h>

#include "trace/codec/codec.h"

extern struct codec_result result; /* of the last conversion */

/* A checked fixture of a test case, besides view_fixture's. */
void perfetto_fixture_open(void);
void perfetto_fixture_close(void);

/* Converts the fixture's view; the bytes live until the next call. */
const unsigned char *perfetto_convert(int level, int n_threads, size_t *n_bytes);
/*
 * The same at level 0, and what is in it: perfetto_packet() is the packet of the index, NULL behind
 * the last one, e.g. `8:100 10:1 12{2{1:1 2:"load"}} 11{9:1 10:1}`: numbers of fields, and their
 * values; those of fixed size with a '#'.
 */
void perfetto_read(void);
const char *perfetto_packet(size_t index);
/*
 * The packets that have the text in them, in their order, each with a line's end; it lives until
 * the next call.
 */
const char *perfetto_find(const char *text);

#endif
