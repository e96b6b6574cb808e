/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples of counters amount to. */
#ifndef TRACE_REPORT_GAUGES_H
#define TRACE_REPORT_GAUGES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct item;

#define COUNTER_SLOTS 16

struct gauge {
	uint32_t name;
	uint64_t
		n; /* samples that are finite numbers; of no meaning if it is 0, all that follows */
	double min;
	double max;
	double mean;
	double last;
	/* The mean of each sixteenth of the time, and how many samples that is of. */
	double slots[COUNTER_SLOTS];
	uint64_t n_of_slot[COUNTER_SLOTS];
};

/* In order of first use. All zero is empty. */
struct gauges {
	struct gauge *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

void gauges_deinit(struct gauges *counters);
/* A sample in the time from |begin_ns| to |end_ns|; what lies beyond counts at the ends. 0 or -ENOMEM. */
int gauges_add(struct gauges *counters, const struct item *item, int64_t begin_ns, int64_t end_ns);
/* Drops those whose names are not wanted (NULL: all are), and those without a number. */
void gauges_keep(struct gauges *counters, const uint8_t *wanted);

#endif
