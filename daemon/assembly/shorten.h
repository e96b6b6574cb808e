/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is too long for who asked for it: its oldest runs go. */
#ifndef DAEMON_SHORTEN_H
#define DAEMON_SHORTEN_H

#include <stdint.h>

struct space;

/*
 * Leaves out runs of the tracks of all lines of |space|, the oldest first, until these are |n_bytes| or more, or there are
 * no more. *n_events_out: how many events they hold; *until_ns_out: when the last of these began. 0 or -ENOMEM.
 */
int shorten(struct space *space, uint64_t n_bytes, uint64_t *n_events_out, int64_t *until_ns_out);

#endif
