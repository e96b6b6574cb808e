/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is too long for who asked for it: its oldest runs go. */
#ifndef DAEMON_SHORTEN_H
#define DAEMON_SHORTEN_H

#include <stdint.h>

struct space;

/* What was left out. */
struct shortened {
	uint64_t n_events;
	int64_t until_ns; /* when the last of these ended */
};

/*
 * Leaves out runs of the tracks of all lines of |space|, the oldest first, until these are |n_bytes| or more, or there are
 * no more. The stat ptap_complete_since_ns (windows.h) of each plane that lost some says so. |out| is zero before. 0 or -ENOMEM.
 */
int shorten(struct space *space, uint64_t n_bytes, struct shortened *out);

#endif
