/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline; see timeline_fixture.h. */
#include "tests/unit/timeline_fixture.h"

#include <check.h>
#include <math.h>

struct timeline timeline;

void timeline_fixture_open(void)
{
	timeline_init(&timeline, 1);
}

void timeline_fixture_close(void)
{
	timeline_deinit(&timeline);
}

void timeline_fixture_reopen_without_ticks(void)
{
	timeline_deinit(&timeline);
	timeline_init(&timeline, 0);
}

void add_pair(uint64_t ticks, int64_t ns)
{
	ck_assert_int_eq(timeline_add(&timeline, (struct clock_pair){ticks, ns}), 0);
}

int64_t swing_ns(double seconds, double share, double period_s)
{
	double swing_s = share * period_s / (2 * M_PI) * sin(2 * M_PI * seconds / period_s);

	return (int64_t)(1e9 * (seconds + swing_s));
}
