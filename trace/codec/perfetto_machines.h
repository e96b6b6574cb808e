/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machines of a Perfetto trace: within one a pid means one process. Archives of one host's name are one machine, unless both
 * have a process of the same pid; those of a view that is grouped are all one. Viewers draw no arrow from one machine to another,
 * so there are no more than need be.
 */
#ifndef TRACE_CODEC_PERFETTO_MACHINES_H
#define TRACE_CODEC_PERFETTO_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

struct view;

struct perfetto_machines {
	uint32_t *of_hosts; /* their machines */
	uint32_t n;
};

/* 0 or -ENOMEM. */
int perfetto_machines_init(struct perfetto_machines *m, const struct view *v);
void perfetto_machines_deinit(struct perfetto_machines *m);
/* Whether no host before this one is of the same machine. */
bool perfetto_machines_has_first(const struct perfetto_machines *m, uint32_t host);

#endif
