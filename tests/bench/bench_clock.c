/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the cost of one read of the processor's counter, and of one of
 * CLOCK_MONOTONIC, in nanoseconds.
 */
#include <stdio.h>

#include "tests/bench/loops.h"

#define ROUNDS 101
#define BATCH 2000

static void read_monotonic(int n)
{
	for (int i = 0; i < n; i++) {
		now_ns();
		barrier();
	}
}

static double measure_read(void (*read)(int))
{
	double ns[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		ns[i] = measure(read, BATCH) - measure(read_none, BATCH);
	return median(ns, ROUNDS);
}

int main(void)
{
	printf("%.2f %.2f\n", measure_read(read_one), measure_read(read_monotonic));
	return 0;
}
