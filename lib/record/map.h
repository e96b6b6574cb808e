/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making pages of the arena usable in the target. It is reserved without access, so that mlockall()
 * by the host does not fill it; what is opened is populated before anybody writes to it, so that
 * missing memory is an error here and not a SIGBUS in the host.
 */
#ifndef RECORD_MAP_H
#define RECORD_MAP_H

#include <stddef.h>
#include <stdint.h>

struct ring;

/* 0 or a negative errno. Leaves errno alone. Threads: any, also in a signal handler. */
int map_ring(struct ring *ring, uint32_t ring_bytes);

/* The same for the pages of |n| bytes at |from| that are accessible already: only their memory. */
int map_populate(const void *from, size_t n);

#endif
