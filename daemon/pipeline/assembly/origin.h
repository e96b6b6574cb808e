/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of a trace begins, when that is not the start of its recording: at the beginning of the part of it that is
 * looked at, or with the first event in there, which can have begun before. No event may begin before its trace.
 */
#ifndef DAEMON_ORIGIN_H
#define DAEMON_ORIGIN_H

#include <stdint.h>

struct space;

/* Moves the events of |space| so that it begins at |window_ns| or with its first event. Returns where that was. */
int64_t origin_set(struct space *space, int64_t window_ns);

#endif
