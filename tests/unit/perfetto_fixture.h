/* SPDX-License-Identifier: Apache-2.0 */
/* The packets that the Perfetto codec makes of the fixture's view, as text for comparisons. */
#ifndef TESTS_UNIT_PERFETTO_FIXTURE_H
#define TESTS_UNIT_PERFETTO_FIXTURE_H

#include <stddef.h>

#include "trace/codec/codec.h"

extern struct codec_result result; /* of the last conversion */

/* A checked fixture of a test case, in addition to view_fixture's. */
void perfetto_fixture_open(void);
void perfetto_fixture_close(void);

/* Converts the fixture's view. The bytes are valid until the next call. */
const unsigned char *perfetto_convert(int level, int n_threads, size_t *n_bytes);
/*
 * Converts the view at level 0 and parses the result. perfetto_packet() returns the packet |index|,
 * NULL after the last one, as field numbers with values, for example `8:100 10:1 12{2{1:1
 * 2:"load"}} 11{9:1 10:1}`. Values of fixed size are hex, after '#'.
 */
void perfetto_read(void);
const char *perfetto_packet(size_t index);
/*
 * The packets that contain |text|, in their order, one per line. The result is valid until the next
 * call.
 */
const char *perfetto_find(const char *text);

#endif
