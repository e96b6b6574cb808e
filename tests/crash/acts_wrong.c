/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and interruptions; see acts.h. */
#include "tests/crash/acts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/crash/inside.h"
#include "tests/crash/script.h"
#include "tests/crash/stage.h"
#include "tests/unit/guest_fixture.h"

#define LONG_TICKS (UINT64_C(1) << 41)

void act_fill_stack(void)
{
	while (atomic_load(&acts_ring()->depth) < RECORD_MAX_DEPTH)
		PTAP_BEGIN("deep");
}

void act_empty_stack(void)
{
	while (atomic_load(&acts_ring()->depth))
		PTAP_END();
}

void act_take_guard(void)
{
	inside_set_guard(true);
}

void act_free_guard(void)
{
	inside_set_guard(false);
}

/* Makes the innermost span begin |ticks| earlier. */
static void age(uint64_t ticks)
{
	uint32_t at = atomic_load(&acts_ring()->depth) - 1;
	uint64_t begun = atomic_load(&acts_ring()->open[at].start) - ticks;

	atomic_store(&acts_ring()->open[at].start, begun);
	/* Without this, the span would have begun before the capture and would be left out. */
	stage->capture.start_ticks -= ticks;
}

void act_grow_old(void)
{
	age(LONG_TICKS);
}

void act_step_back(void)
{
	age(0 - (UINT64_C(1) << 30));
	stage->capture.start_ticks -= UINT64_C(1) << 30;
}

/* Fills the ring except for its last slot. */
void act_fill_ring(void)
{
	while (FIXTURE_SLOTS - (atomic_load(&acts_ring()->head) - atomic_load(&acts_ring()->tail)) >
		32)
		PTAP_INSTANT_DYN(acts_long_text);
	while (FIXTURE_SLOTS - (atomic_load(&acts_ring()->head) - atomic_load(&acts_ring()->tail)) >
		1)
		PTAP_INSTANT("filling");
}

static uint32_t strings_used;

static void use_strings_up_to(uint32_t at)
{
	strings_used = atomic_exchange(&fixture.arena->strings_used, at);
}

void act_fill_strings(void)
{
	use_strings_up_to(ARENA_STRINGS_BYTES - 8);
}

/* Restores the used size of the string table. Else the server would read more at each stop. */
void act_free_strings(void)
{
	atomic_store(&fixture.arena->strings_used, strings_used);
}

void act_instant_too_many(void)
{
	PTAP_INSTANT("a name that does not fit");
}

void act_instant_at_the_end_of_the_table(void)
{
	PTAP_INSTANT("a name after that");
}

static char *last_string_page(void)
{
	use_strings_up_to(ARENA_STRINGS_BYTES - 2048);
	return arena_strings(fixture.arena) + ARENA_STRINGS_BYTES - 4096;
}

/* Maps an empty file over the table's last page, so that no page can be allocated there. */
void act_use_up_pages(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);

	if (mmap(last_string_page(), 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
		MAP_FAILED)
		abort();
}

void act_take_pages_away(void)
{
	munmap(last_string_page(), 4096);
}

void act_instant_without_page(void)
{
	PTAP_INSTANT("a name without a page");
}

void act_counter_without_page(void)
{
	PTAP_COUNTER("another name without a page", 1);
}

void act_begin_late(void)
{
	acts_outer = ptap_impl_begin(&acts_outer_site, stage->capture.word);
}

void act_begin_dyn_late(void)
{
	acts_outer = ptap_impl_begin_dyn("late", stage->capture.word);
}

void act_begin_args_late(void)
{
	const struct ptap_impl_arg args[] = {PTAP_I("a number", -1)};

	acts_outer = ptap_impl_begin_args(&acts_args_site, stage->capture.word, args, 1);
}

void act_begin_step_late(void)
{
	acts_outer = ptap_impl_begin_step(&acts_step_site, stage->capture.word, 1);
}

void act_instant_late(void)
{
	ptap_impl_instant(&acts_outer_site, stage->capture.word);
}

void act_end_top_late(void)
{
	ptap_impl_end_top(stage->capture.word + 4);
}

void act_begin_of_no_capture(void)
{
	ptap_impl_open(&acts_outer_site, stage->capture.word + 4);
}
