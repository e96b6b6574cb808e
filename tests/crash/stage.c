/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that is shared by the stepped program and the test; see stage.h. */
#include "tests/crash/stage.h"

#include <check.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "tests/unit/guest_fixture.h"

struct stage *stage;

void stage_open(void)
{
	fixture_open();
	stage = mmap(
		NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(stage, MAP_FAILED);
}

void stage_close(void)
{
	munmap(stage, sizeof *stage);
	fixture_close();
}

void stage_reopen(void)
{
	stage_close();
	stage_open();
}

uint64_t stage_now(void)
{
	return stage->clock == ARENA_CLOCK_TICKS ? ticks_read() : (uint64_t)monotonic_ns();
}
