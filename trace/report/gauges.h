/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the samples of counters. */
#ifndef TRACE_REPORT_GAUGES_H
#define TRACE_REPORT_GAUGES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct item;

#define COUNTER_SLOTS 16

/*
 * A value holds until the next sample of its counter, and the last one until the end of the time.
 * The sample of a rate is at the beginning of the interval that it was measured over
 * (daemon/pipeline/assembly/usage_lines.c), so that its mean multiplied by the time is the total.
 */
struct gauge {
	uint32_t name;
	/* Samples that are finite numbers; if it is 0, the members below have no meaning */
	uint64_t n;
	double min;
	double max;
	double mean; /* weighted by time; unweighted if no sample holds for any time */
	double last;
	double slots[COUNTER_SLOTS]; /* the mean of each sixteenth of the time, weighted by time */
	double ns_of_slot[COUNTER_SLOTS]; /* for how long in each of these a value is known */
	double known_ns; /* for how long in all a value is known */
	int64_t last_ns; /* time of the sample |last| */
	/*
	 * Track of |last|: several tracks may have a counter of the name, each with values of its
	 * own
	 */
	uint64_t track;
};

/* In order of first use. */
struct gauges {
	int64_t begin_ns; /* the time that is summed up */
	int64_t end_ns;
	struct gauge *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

void gauges_init(struct gauges *counters, int64_t begin_ns, int64_t end_ns);
void gauges_deinit(struct gauges *counters);
/* Adds a sample; those of one |track| must come in order of time. 0 or -ENOMEM. */
int gauges_add(struct gauges *counters, const struct item *item, uint64_t track);
/*
 * Ends the adding, and drops the counters whose names are not wanted (NULL: all are), or that have
 * no number.
 */
void gauges_finish(struct gauges *counters, const uint8_t *wanted);

#endif
