/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the exit and the forks of this process; see process.h. */
#include "lib/plugins/cuda/process.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The longest wait of exit(). */
#define EXIT_TIMEOUT_NS INT64_C(1000000000)

enum process_state {
	PROCESS_OUTSIDE,
	PROCESS_INSIDE,
	PROCESS_EXITING, /* exiting, and outside of CUPTI */
	PROCESS_EXITING_INSIDE,
};

static _Atomic uint32_t state;
static void (*forget_in_child)(void);
static bool is_watched;

/* A system call: the vDSO reads a counter that a thread may have forbidden itself (PR_SET_TSC). */
static int64_t read_clock_ns(void)
{
	struct timespec t = {0, 0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void wait_while_state_is(uint32_t value, int64_t deadline_ns)
{
	struct timespec at = {
		.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};

	syscall(SYS_futex, &state, FUTEX_WAIT_BITSET_PRIVATE, value, &at, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

static void at_exit(void)
{
	int64_t deadline_ns = read_clock_ns() + EXIT_TIMEOUT_NS;
	uint32_t now = atomic_load(&state);

	while (now < PROCESS_EXITING &&
		!atomic_compare_exchange_weak(&state, &now, now + PROCESS_EXITING))
		;
	while (atomic_load(&state) == PROCESS_EXITING_INSIDE && read_clock_ns() < deadline_ns)
		wait_while_state_is(PROCESS_EXITING_INSIDE, deadline_ns);
}

static void after_fork(void)
{
	atomic_store(&state, PROCESS_OUTSIDE);
	forget_in_child();
}

void process_watch(void (*in_child)(void))
{
	if (is_watched)
		return;
	is_watched = true;
	forget_in_child = in_child;
	pthread_atfork(NULL, NULL, after_fork);
	atexit(at_exit);
}

int process_enter(void)
{
	uint32_t expected = PROCESS_OUTSIDE;

	if (atomic_compare_exchange_strong(&state, &expected, PROCESS_INSIDE) ||
		expected == PROCESS_INSIDE)
		return 0;
	return -ESHUTDOWN;
}

void process_leave(void)
{
	uint32_t now = atomic_load(&state);

	while ((now == PROCESS_INSIDE || now == PROCESS_EXITING_INSIDE) &&
		!atomic_compare_exchange_weak(&state, &now, now - PROCESS_INSIDE))
		;
	syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

bool process_is_exiting(void)
{
	return atomic_load(&state) >= PROCESS_EXITING;
}
