/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a usage: the samples until now are cut off, and the sampling goes on. */
#ifndef DAEMON_USAGE_CUT_H
#define DAEMON_USAGE_CUT_H

#include <stdint.h>

struct usage;

/*
 * Moves the samples of |u|, and the readings of its threads, to |part|, which need not be initialised and is a finished
 * usage (usage_close()). The last of each is the first of what comes. |from_ns| (CLOCK_MONOTONIC): earlier ones
 * are left out, but the last before it. 0, or -ENOMEM: something is missing.
 */
int usage_cut(struct usage *u, struct usage *part, int64_t from_ns);

#endif
