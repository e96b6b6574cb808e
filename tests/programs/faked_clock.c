/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to preload: it moves CLOCK_REALTIME by the nanoseconds in the first 8 bytes of the file
 * $FAKED_CLOCK, which a test may change while the program runs. Waits until a CLOCK_REALTIME time
 * adapt when the clock is set, as they do in the kernel. gRPC waits so, by futexes. Waits by
 * CLOCK_MONOTONIC are not changed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* The interval at which a waiting thread checks whether the clock was set. */
#define SLICE_NS (20 * NS_PER_MS)
#define N_ARGUMENTS 6

#pragma GCC visibility push(default)

static const _Atomic int64_t *offset;

/* The first call comes in main() or before it, when the program has only one thread. */
static int64_t get_offset_ns(void)
{
	const char *path = getenv("FAKED_CLOCK");
	int fd;

	if (!offset && path) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		offset = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	return offset && offset != MAP_FAILED ? atomic_load(offset) : 0;
}

static long call_kernel(long number, const long a[N_ARGUMENTS])
{
	static long (*real)(long, ...);

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static struct timespec make_time(int64_t ns)
{
	return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

static int64_t read_real_ns(clockid_t id)
{
	struct timespec t = {0, 0};
	const long a[N_ARGUMENTS] = {id, (long)&t};

	call_kernel(SYS_clock_gettime, a);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t read_ns(clockid_t id)
{
	bool is_set = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;

	return read_real_ns(id) + (is_set ? get_offset_ns() : 0);
}

/* Reads of the clock. */

int clock_gettime(clockid_t id, struct timespec *t)
{
	*t = make_time(read_ns(id));
	return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	int64_t ns = read_ns(CLOCK_REALTIME);

	(void)zone;
	*t = (struct timeval){ns / NS_PER_S, ns % NS_PER_S / 1000};
	return 0;
}

time_t time(time_t *t)
{
	time_t s = read_ns(CLOCK_REALTIME) / NS_PER_S;

	if (t)
		*t = s;
	return s;
}

/* Waits by the clock. */

static bool waits_by_clock(long number, const long a[N_ARGUMENTS])
{
	return number == SYS_futex && a[1] & FUTEX_CLOCK_REALTIME && a[3];
}

static long wait_until(long a[N_ARGUMENTS])
{
	const struct timespec *until = (const struct timespec *)a[3];
	int64_t until_ns = until->tv_sec * NS_PER_S + until->tv_nsec;

	for (;;) {
		int64_t end_ns = until_ns - get_offset_ns();
		int64_t look_ns = read_real_ns(CLOCK_REALTIME) + SLICE_NS;
		struct timespec next = make_time(look_ns < end_ns ? look_ns : end_ns);
		long r;

		a[3] = (long)&next;
		r = call_kernel(SYS_futex, a);
		if (r >= 0 || errno != ETIMEDOUT || end_ns <= look_ns)
			return r;
	}
}

long syscall(long number, ...)
{
	long a[N_ARGUMENTS];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < N_ARGUMENTS; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	return waits_by_clock(number, a) ? wait_until(a) : call_kernel(number, a);
}
