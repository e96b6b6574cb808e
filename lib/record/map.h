/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a ring's pages usable in the target. The arena is reserved without access, so that mlockall()
 * by the host does not fill it; a ring is opened and populated before anybody writes to it, so that
 * missing memory is an error here and not a SIGBUS in the host.
 */
#ifndef RECORD_MAP_H
#define RECORD_MAP_H

#include <stdint.h>

struct ring;

/* 0 or a negative errno. Leaves errno alone. Threads: any, also in a signal handler. */
int map_ring(struct ring *ring, uint32_t ring_bytes);

#endif
