/* SPDX-License-Identifier: Apache-2.0 */
/* Units of counters that Perfetto knows. */
#ifndef TRACE_CODEC_PERFETTO_UNIT_H
#define TRACE_CODEC_PERFETTO_UNIT_H

#include <stdint.h>

struct perfetto_unit {
	const char *name; /* last word of the counter's name */
	uint32_t number; /* value of CounterDescriptor.Unit; 0: it has none, and shows |name| */
};

/*
 * Finds the unit in a name such as "process rss MiB", "queue_bytes" or "latency (us)". NULL: there
 * is none.
 */
const struct perfetto_unit *perfetto_find_unit(const char *name);

#endif
