/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of collectors; see device_clock.h. */
#include "daemon/pipeline/devices/device_clock.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

/* 36 years. Larger values make no sense, and the sum of two such values does not overflow. */
#define MAX_NS (INT64_C(1) << 60)

#define MAX_DRIFT 500e-6
#define MAX_MOVE_NS NS_PER_MS
/*
 * A collector may be interrupted between its readings of the two clocks, so a smaller difference
 * does not show that a clock was set.
 */
#define JITTER_NS (NS_PER_MS / 10)

/* Sets *out to |a| - |b|. Returns 0 when the difference is too large. */
static int subtract_times(uint64_t a, uint64_t b, int64_t *out)
{
	int64_t difference = (int64_t)(a - b);

	*out = difference;
	return (difference < 0) == (a < b) && difference <= MAX_NS && difference >= -MAX_NS;
}

int device_clock_add(struct device_clock *c, uint64_t at_ns, uint64_t monotonic_ns)
{
	struct device_anchor anchor = {at_ns, (int64_t)monotonic_ns};

	if (monotonic_ns > (uint64_t)MAX_NS)
		return 0;
	if (!c->is_known || anchor.monotonic_ns < c->first.monotonic_ns)
		c->first = anchor;
	if (!c->is_known || anchor.monotonic_ns > c->last.monotonic_ns)
		c->last = anchor;
	c->is_known = true;
	return 1;
}

void device_clock_settle(struct device_clock *c)
{
	int64_t monotonic_ns = c->last.monotonic_ns - c->first.monotonic_ns;
	int64_t own_ns;
	bool is_near = subtract_times(c->last.at_ns, c->first.at_ns, &own_ns);
	int64_t moved_ns = is_near ? monotonic_ns - own_ns : 0;

	c->drift = 0;
	c->was_set = !is_near || llabs(moved_ns) > MAX_MOVE_NS;
	if (c->was_set || own_ns <= 0)
		return;
	c->drift = (double)moved_ns / (double)own_ns;
	if (c->drift > MAX_DRIFT || c->drift < -MAX_DRIFT) {
		c->drift = 0;
		c->was_set = llabs(moved_ns) > JITTER_NS;
	}
}

int device_clock_convert(const struct device_clock *c, uint64_t at_ns, int64_t *out)
{
	int64_t since_ns;

	if (!c->is_known || !subtract_times(at_ns, c->first.at_ns, &since_ns))
		return 0;
	*out = c->first.monotonic_ns + since_ns + (int64_t)((double)since_ns * c->drift);
	return 1;
}

int device_clock_find_zero(const struct device_clock *c, int64_t *out)
{
	*out = (int64_t)((uint64_t)c->first.monotonic_ns - c->first.at_ns);
	return c->is_known;
}
