/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records calls into a device's library as spans of the calling thread (RECORD_LAUNCH), for
 * collectors: the implementation of call_begin(), call_end() and note_node() of
 * <proftap/collector.h>.
 *
 * Threads: any, also while the recording begins or ends, and in a forked child, where nothing
 * happens.
 */
#ifndef RECORD_DEVICE_CALL_H
#define RECORD_DEVICE_CALL_H

#include <stdint.h>

struct device_call {
	uint32_t name; /* string id; 0: none */
	uint32_t graph; /* valid with LAUNCH_IS_GRAPH in |where| */
	uint64_t correlation;
	uint64_t where; /* launch_where() */
};

/*
 * Returns the token for device_call_end(): the recording's word << 32 | depth + 1; 0: nothing is
 * recorded, or the call was counted as lost.
 */
uint64_t device_call_begin(const struct device_call *call);
/* Does nothing in another thread than the one in which the call began. */
void device_call_end(uint64_t token);

/* Records that the calling thread makes the graph's |node| from |original|, or from nothing (0). */
void device_call_note_node(uint64_t node, uint64_t original);

#endif
