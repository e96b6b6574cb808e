/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and threads that begin and end; see acts.h. */
#include "tests/crash/acts.h"

#include <check.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "daemon/target/timeline.h"
#include "tests/crash/inside.h"
#include "tests/crash/script.h"
#include "tests/crash/stage.h"
#include "tests/unit/guest_fixture.h"

struct ring *acts_ring(void)
{
	return fixture_ring(0);
}

/* --- captures ------------------------------------------------------------------------------- */

uint32_t acts_bad_ring = UINT32_MAX;

/* Empties the rings, because old records are in them when a server starts a capture. */
void act_empty_rings(void)
{
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++) {
		if (i == acts_bad_ring)
			continue;
		fixture_empty(i);
		stage->capture.tail[i] = atomic_load(&fixture_ring(i)->head);
	}
}

static void start(uint32_t clock)
{
	act_empty_rings();
	if (!timeline_ticks_are_usable(""))
		clock = ARENA_CLOCK_MONOTONIC;
	stage->clock = clock;
	stage->capture.start_ticks = stage_now();
	stage->capture.lost_no_ring = atomic_load(&fixture.arena->lost_no_ring);
	inside_set_clock(clock);
	stage->capture.word = fixture_start(3);
}

void act_start_by_ticks(void)
{
	start(ARENA_CLOCK_TICKS);
}

/*
 * Starts a capture whose clock is read by a system call, as in a program that may not read the
 * counter.
 */
void act_start_by_call(void)
{
	start(ARENA_CLOCK_MONOTONIC);
	inside_use_system_calls();
}

void act_start_by_monotonic(void)
{
	start(ARENA_CLOCK_MONOTONIC);
}

void act_stop(void)
{
	fixture_publish(0);
}

/* Changes the level of the recording; open spans and records continue. */
void act_change_level(void)
{
	stage->capture.word ^= 1;
	fixture_publish(stage->capture.word);
}

void act_go_on(void)
{
	fixture_publish(stage->capture.word);
}

/* --- threads -------------------------------------------------------------------------------- */

void act_name_thread(void)
{
	ptap_thread_name("a thread");
}

void act_name_thread_anew(void)
{
	ptap_thread_name("another name of the same thread");
}

void act_name_second_thread(void)
{
	ptap_thread_name("the second thread");
}

/*
 * Makes this thread a new one that gets ring 3, which the server has freed after its thread ended.
 */
void act_be_a_third_thread(void)
{
	struct ring *freed = fixture_ring(3);

	inside_forget_thread();
	fixture_empty(3);
	stage->capture.tail[3] = atomic_load(&freed->head);
	atomic_store(&freed->word, 0);
	atomic_store(&freed->tid, 0);
	atomic_store(&fixture.arena->ring_state[3], RING_FREE);
}

void act_be_a_thread_without_ring(void)
{
	inside_forget_thread();
	for (uint32_t i = 0; i < FIXTURE_RINGS; i++)
		atomic_store(&fixture.arena->ring_state[i], RING_USED);
}

void act_be_a_thread_with_a_bad_ring(void)
{
	acts_bad_ring = 2;
	munmap(fixture_ring(acts_bad_ring), ring_stride_bytes(FIXTURE_RING_BYTES));
	inside_forget_thread();
	atomic_store(&fixture.arena->ring_state[acts_bad_ring], RING_FREE);
	atomic_store(&fixture.arena->rings_ready, 2);
}

void act_be_a_thread_with_a_late_ring(void)
{
	act_be_a_third_thread();
	ck_assert_int_eq(
		mprotect(fixture_ring(3), ring_stride_bytes(FIXTURE_RING_BYTES), PROT_NONE), 0);
}

void act_be_interrupted_on_the_way(void)
{
	inside_forget_thread();
	inside_set_entering(stage->capture.word);
}

void act_be_followed(void)
{
	inside_forget_thread();
	inside_follow(stage->capture.word);
}

/* The state in which another thread is already joining on behalf of the forked child. */
void act_be_followed_too_early(void)
{
	inside_forget_thread();
	inside_follow(UINT32_MAX);
}

void act_be_followed_in_vain(void)
{
	inside_forget_thread();
	inside_follow(0);
}

/* During this instant the kernel would kill the program for reading the counter. */
void act_instant_without_the_counter(void)
{
#ifdef PR_SET_TSC
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	PTAP_INSTANT("without a clock");
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
#endif
}
