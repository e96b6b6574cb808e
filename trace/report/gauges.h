/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples of counters amount to. */
#ifndef TRACE_REPORT_GAUGES_H
#define TRACE_REPORT_GAUGES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/report/name_map.h"

struct item;

#define COUNTER_SLOTS 16

/*
 * A value holds until the next sample of its counter, the last one until the end of the time. A rate stands at the beginning of the
 * time that it was measured over (daemon/pipeline/assembly/usage_lines.c), so its mean multiplied by the time is the total.
 */
struct gauge {
	uint32_t name;
	uint64_t
		n; /* samples that are finite numbers; of no meaning if it is 0, all that follows */
	double min;
	double max;
	double mean; /* weighted by time; of the samples alike if none holds for any time */
	double last;
	double slots[COUNTER_SLOTS]; /* the mean of each sixteenth of the time, likewise */
	double ns_of_slot[COUNTER_SLOTS]; /* for how much of it a value is known */
	double known_ns; /* for how much of the whole */
	int64_t last_ns; /* since when |last| holds */
	uint64_t
		track; /* that it is of: a name may stand on several, each of which has values of its own */
};

/* In order of first use. All zero is empty. */
struct gauges {
	int64_t begin_ns; /* of the time that is looked at */
	int64_t end_ns;
	struct gauge *v;
	size_t n;
	size_t n_allocated;
	struct name_map places;
};

void gauges_init(struct gauges *counters, int64_t begin_ns, int64_t end_ns);
void gauges_deinit(struct gauges *counters);
/* A sample; those of one |track| come in order of time. 0 or -ENOMEM. */
int gauges_add(struct gauges *counters, const struct item *item, uint64_t track);
/*
 * Ends the adding. Drops the counters whose names are not wanted (NULL: all are), and those without a number.
 */
void gauges_finish(struct gauges *counters, const uint8_t *wanted);

#endif
