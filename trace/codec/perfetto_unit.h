/* SPDX-License-Identifier: Apache-2.0 */
/* Units of counters, as Perfetto knows them. */
#ifndef TRACE_CODEC_PERFETTO_UNIT_H
#define TRACE_CODEC_PERFETTO_UNIT_H

#include <stdint.h>

struct perfetto_unit {
	const char *name; /* the last word of a counter's name that says it */
	uint32_t
		number; /* of perfetto's CounterDescriptor.Unit; 0: it has none, and shows the name */
};

/* That of a counter, by its name: "process rss MiB", "queue_bytes", "latency (us)". NULL: the name says none. */
const struct perfetto_unit *perfetto_find_unit(const char *name);

#endif
