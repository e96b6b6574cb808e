/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a trace shorter that is too long for its reader: its oldest runs are left out. */
#ifndef DAEMON_SHORTEN_H
#define DAEMON_SHORTEN_H

#include <stdint.h>

struct space;

/* The events that were left out. */
struct shortened {
	uint64_t n_events;
	int64_t until_ns; /* the time at which the last of them ended */
};

/*
 * Leaves out runs of the tracks of all lines of |space|, the oldest first, until they have
 * |n_bytes| or more, or no run is left. The stat ptap_complete_since_ns (windows.h) of each plane
 * that lost some says so. |out| is zero before. 0 or -ENOMEM.
 */
int shorten(struct space *space, uint64_t n_bytes, struct shortened *out);

#endif
