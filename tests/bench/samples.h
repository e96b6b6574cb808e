/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of every measurement: a clock, and the median of samples. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stdlib.h>
#include <time.h>

static inline double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* CLOCK_MONOTONIC: the same for all processes. */
static inline double now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The processor's time of all threads of this process. */
static inline double process_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* the processor time of this thread */
static inline double thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline int compare_samples(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* Sorts |samples|. */
static inline double median(double *samples, size_t n)
{
	qsort(samples, n, sizeof *samples, compare_samples);
	return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

#endif
