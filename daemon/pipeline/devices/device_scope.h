/* SPDX-License-Identifier: Apache-2.0 */
/* The process and the recording whose devices are drawn. */
#ifndef DAEMON_DEVICE_SCOPE_H
#define DAEMON_DEVICE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct names;

struct device_scope {
	struct arena *arena; /* borrowed: has the texts */
	const char *process_name;
	pid_t pid;
	bool is_child; /* of the program that is recorded */
	/*
	 * the program's CLOCK_MONOTONIC at the begin of the trace; times below are relative to it
	 */
	int64_t base_ns;
	/* later events are left out, and so are those that ended before the trace begins */
	int64_t to_ns;
	const struct names *span_names; /* by the numbers of spans in struct launch_table */
	uint64_t max_ops; /* the most different span names of a device; 0: no limit */
	const _Atomic int *cancel; /* raised: the trace is not wanted any more; NULL ok */
};

#endif
