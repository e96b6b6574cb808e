/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collector's clock, whatever it counts from, as CLOCK_MONOTONIC: by a line through the first and the last of the anchors that the
 * collector gave (docs/internals/collectors.md, "Times").
 */
#ifndef DAEMON_DEVICE_CLOCK_H
#define DAEMON_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct device_anchor {
	uint64_t at_ns; /* the collector's */
	int64_t monotonic_ns;
};

/* All zero: no anchor yet. */
struct device_clock {
	struct device_anchor first; /* by CLOCK_MONOTONIC */
	struct device_anchor last;
	bool is_known; /* there is an anchor */
	bool was_set; /* while it was recorded: times are by the first anchor alone */
	double drift; /* ns of CLOCK_MONOTONIC in one of its own, less 1 */
};

/* 0: it makes no sense. */
int device_clock_add(struct device_clock *c, uint64_t at_ns, uint64_t monotonic_ns);
/* All anchors are there: from here on it converts. */
void device_clock_settle(struct device_clock *c);
/* 1 and CLOCK_MONOTONIC in |*out|; 0: so far away that it makes no sense. */
int device_clock_convert(const struct device_clock *c, uint64_t at_ns, int64_t *out);
/* Of its 0 the same, by the first anchor alone, however far away that is. 0: there is no anchor. */
int device_clock_find_zero(const struct device_clock *c, int64_t *out);

#endif
