/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines of a Perfetto trace: within a machine a pid is one process. Archives of one host
 * name are one machine, unless both have a process of the same pid; a view with a grouping has one
 * machine. Viewers draw no arrows between machines, so there are as few as possible.
 */
#ifndef TRACE_CODEC_PERFETTO_MACHINES_H
#define TRACE_CODEC_PERFETTO_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

struct view;

struct perfetto_machines {
	uint32_t *of_hosts; /* the machine of each host */
	uint32_t n;
};

/* 0 or -ENOMEM. */
int perfetto_machines_init(struct perfetto_machines *m, const struct view *v);
void perfetto_machines_deinit(struct perfetto_machines *m);
/* True if |host| is the first host of its machine. */
bool perfetto_machines_has_first(const struct perfetto_machines *m, uint32_t host);

#endif
