/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a collector's clock, whatever its epoch, to CLOCK_MONOTONIC by a line through the first
 * and the last anchor of the collector (docs/internals/collectors.md, "Times").
 */
#ifndef DAEMON_DEVICE_CLOCK_H
#define DAEMON_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct device_anchor {
	uint64_t at_ns; /* in the collector's clock */
	int64_t monotonic_ns;
};

/* All zero: no anchor yet. */
struct device_clock {
	struct device_anchor first; /* in the order of CLOCK_MONOTONIC */
	struct device_anchor last;
	bool is_known; /* there is an anchor */
	bool was_set; /* the clock was set during the recording: only the first anchor is used */
	double drift; /* ns of CLOCK_MONOTONIC in one ns of the collector's clock, minus 1 */
};

/* Adds an anchor. 0 when it makes no sense. */
int device_clock_add(struct device_clock *c, uint64_t at_ns, uint64_t monotonic_ns);
/* Called after the last anchor: from here on |c| converts times. */
void device_clock_settle(struct device_clock *c);
/* Sets |*out| to CLOCK_MONOTONIC and returns 1; 0: there is no anchor, or it is too far away. */
int device_clock_convert(const struct device_clock *c, uint64_t at_ns, int64_t *out);
/*
 * Converts the time 0 of the collector's clock by the first anchor alone, however far away that is.
 * Returns 0 when there is no anchor.
 */
int device_clock_find_zero(const struct device_clock *c, int64_t *out);

#endif
