/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a RECORD_LAUNCH or RECORD_NODE from untrusted bytes. */
#ifndef DAEMON_LAUNCH_H
#define DAEMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct entry;

struct launch_record {
	uint64_t correlation; /* 0: none */
	uint32_t context;
	uint32_t graph; /* valid with is_graph */
	uint16_t device;
	bool is_graph;
};

/* Read entries of these kinds. False when the entry makes no sense. */
bool launch_read(const struct entry *e, struct launch_record *out);
bool launch_read_node(const struct entry *e, uint64_t *node, uint64_t *original);

/*
 * The id in a trace for |correlation|, which is unique in its process only. A trace can have several processes, and viewers draw arrows
 * between equal ids.
 */
static inline uint64_t launch_make_id(pid_t pid, uint64_t correlation)
{
	return correlation + ((uint64_t)pid << 32);
}

#endif
