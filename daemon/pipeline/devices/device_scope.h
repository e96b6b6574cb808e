/* SPDX-License-Identifier: Apache-2.0 */
/* Of what process, and what recording, devices are drawn. */
#ifndef DAEMON_DEVICE_SCOPE_H
#define DAEMON_DEVICE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct names;

struct device_scope {
	struct arena *arena; /* has the texts */
	const char *process_name;
	pid_t pid;
	bool is_child; /* of the program that is recorded */
	int64_t base_ns; /* the program's CLOCK_MONOTONIC where the trace begins; times below are since then */
	int64_t to_ns; /* what began later is left out, as is what ended before the trace begins */
	const struct names *span_names; /* of the numbers that launches have of spans */
	uint64_t max_ops; /* different ones of these that a device names; 0: no limit */
	const _Atomic int *cancel; /* raised: nobody wants it any more; NULL ok */
};

#endif
