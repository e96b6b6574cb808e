/* SPDX-License-Identifier: Apache-2.0 */
/* What the hosts of a fan-out (fan_out_host.h) have in common while they are asked: their turns, and how long they may take. */
#ifndef DAEMON_FAN_OUT_ROUND_H
#define DAEMON_FAN_OUT_ROUND_H

#include <stddef.h>
#include <stdint.h>

#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

struct fan_out_host;
struct fan_out_turn;

/* Until when they may be silent: they record what |request| says, and make a trace. CLOCK_MONOTONIC. */
int64_t fan_out_round_find_end_ns(const Tensorflow__ProfileRequest *request);
/* The same of hosts that make a trace of what they have. */
int64_t fan_out_round_find_snapshot_end_ns(void);

/*
 * One round over all |hosts| but |own|, which may be NULL; waits a little where the one before had nothing to read. Returns how
 * many are not over.
 */
int fan_out_round_poll(struct fan_out_host *hosts, size_t n, const struct fan_out_host *own,
	struct fan_out_turn *turn);

#endif
