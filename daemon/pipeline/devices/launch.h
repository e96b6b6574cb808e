/* SPDX-License-Identifier: Apache-2.0 */
/* A RECORD_LAUNCH or RECORD_NODE, from bytes that nobody vouches for. */
#ifndef DAEMON_LAUNCH_H
#define DAEMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct entry;

struct launch {
	uint64_t correlation; /* 0: none */
	uint32_t context;
	uint32_t graph; /* with is_graph */
	uint16_t device;
	bool is_graph;
};

/* Of entries of these kinds. 0: it makes no sense. */
int launch_read(const struct entry *e, struct launch *out);
int launch_read_node(const struct entry *e, uint64_t *node, uint64_t *original);

/*
 * What a trace says for |correlation|, which is one process's own: other than another's, for processes are joined in one trace, and
 * viewers draw arrows between what says the same.
 */
static inline uint64_t launch_make_id(pid_t pid, uint64_t correlation)
{
	return correlation + ((uint64_t)pid << 32);
}

#endif
