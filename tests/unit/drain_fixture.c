/* SPDX-License-Identifier: Apache-2.0 */
/* A drain of rings; see drain_fixture.h. */
#include "tests/unit/drain_fixture.h"

#include <check.h>

struct drain_fixture drained;

void drained_start(void)
{
	drain_reset_rings(&drained.drain);
	drain_begin(&drained.drain, fixture_start(1));
}

void drained_init(void)
{
	drained.budget = (struct drain_budget){.max_bytes = 64u << 20};
	drain_init(&drained.drain, &fixture.target, &drained.budget);
}

void drained_setup(void)
{
	fixture_open();
	drained.ring = fixture_ring(0);
	drained_init();
	drained_start();
}

void drained_teardown(void)
{
	drain_deinit(&drained.drain);
	fixture_close();
}

unsigned drained_visit(void)
{
	int error = 0;
	unsigned full = drain_visit(&drained.drain, &error);

	ck_assert_int_eq(error, 0);
	return full;
}

void drained_finish(void)
{
	int error = 0;

	drain_finish(&drained.drain, &error);
	ck_assert_int_eq(error, 0);
}
