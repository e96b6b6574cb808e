/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes pages of the arena usable in the program. The arena is reserved without access, so that
 * mlockall() by the program does not fill it. Opened pages are populated before they are written,
 * so that missing memory is an error here and not a SIGBUS in the program.
 */
#ifndef RECORD_MAP_H
#define RECORD_MAP_H

#include <stddef.h>
#include <stdint.h>

struct ring;

/*
 * Opens and populates a ring. 0 or a negative errno. Keeps errno. Threads: any, also in a signal
 * handler.
 */
int map_ring(struct ring *ring, uint32_t ring_bytes);

/*
 * Populates the pages of |n| bytes at |from|, which are accessible already. Otherwise as
 * map_ring().
 */
int map_populate(const void *from, size_t n);

#endif
