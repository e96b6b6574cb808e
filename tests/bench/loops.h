/* SPDX-License-Identifier: Apache-2.0 */
/* Loops to compare annotations with: an empty one, and one that reads the clock. */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include "tests/bench/samples.h"

/* Keeps the compiler from removing the loop or moving its memory accesses. */
#define barrier() __asm__ volatile("" ::: "memory")

static inline void read_clock(void)
{
#if defined(__x86_64__) || defined(__i386__)
	/* volatile: gcc neither drops nor joins such statements. */
	unsigned int low;
	unsigned int high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
#else
	now_ns();
#endif
}

static inline void read_none(int n)
{
	for (int i = 0; i < n; i++)
		barrier();
}

static inline void read_one(int n)
{
	for (int i = 0; i < n; i++) {
		read_clock();
		barrier();
	}
}

static inline void read_two(int n)
{
	for (int i = 0; i < n; i++) {
		read_clock();
		read_clock();
		barrier();
	}
}

/* Returns the nanoseconds of one iteration. */
static inline double measure(void (*run)(int), int n)
{
	double start = now_ns();

	run(n);
	return (now_ns() - start) / n;
}

#endif
