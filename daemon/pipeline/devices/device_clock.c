/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of collectors; see device_clock.h. */
#include "daemon/pipeline/devices/device_clock.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"

/* Beyond it nothing is true, and sums of two still are numbers: 36 years. */
#define MAX_NS (INT64_C(1) << 60)

#define MAX_DRIFT 500e-6
#define MAX_MOVE_NS NS_PER_MS
/* Who reads two clocks may be kept waiting between them: less tells nothing of their rates. */
#define JITTER_NS (NS_PER_MS / 10)

/* |a| - |b|, or 0 in the result where that is too far. */
static int subtract(uint64_t a, uint64_t b, int64_t *out)
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
	bool is_near = subtract(c->last.at_ns, c->first.at_ns, &own_ns);
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

	if (!c->is_known || !subtract(at_ns, c->first.at_ns, &since_ns))
		return 0;
	*out = c->first.monotonic_ns + since_ns + (int64_t)((double)since_ns * c->drift);
	return 1;
}

int device_clock_find_zero(const struct device_clock *c, int64_t *out)
{
	*out = (int64_t)((uint64_t)c->first.monotonic_ns - c->first.at_ns);
	return c->is_known;
}
