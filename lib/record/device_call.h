/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls into a device's library as spans of the thread that makes them (RECORD_LAUNCH), for collectors: what
 * <proftap/collector.h> says of call_begin(), call_end() and note_node().
 *
 * Threads: any, also while the recording begins or ends, and in a forked child, where nothing happens.
 */
#ifndef RECORD_DEVICE_CALL_H
#define RECORD_DEVICE_CALL_H

#include <stdint.h>

struct device_call {
	uint32_t name; /* string id; 0: none */
	uint32_t graph; /* with LAUNCH_IS_GRAPH in |where| */
	uint64_t correlation;
	uint64_t where; /* launch_where() */
};

/* What goes to device_call_end(): word << 32 | depth + 1; 0: nothing is recorded, or it was counted as lost. */
uint64_t device_call_begin(const struct device_call *call);
/* Nothing in another thread than it began in. */
void device_call_end(uint64_t token);

/* |node| of a graph is made here, from |original| or from nothing (0). */
void device_call_note_node(uint64_t node, uint64_t original);

#endif
