/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts to open perf events; see attempt_perf.h. */
#include "client/doctor/attempt_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_BYTES (1u << 20)
/* Rings that are tried: a machine of more processors has the same limit for each. */
#define MAX_RINGS 64

struct wish {
	unsigned type;
	unsigned long long config;
	bool with_kernel;
	pid_t pid; /* 0: this thread; -1: all of |cpu| */
	int cpu; /* -1: wherever */
};

/* The descriptor, or a negative errno. */
static int open_event(struct wish wish)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = wish.type;
	attr.config = wish.config;
	attr.freq = 1;
	attr.sample_freq = 99;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr.disabled = 1;
	attr.exclude_kernel = !wish.with_kernel;
	attr.exclude_hv = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, wish.pid, wish.cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int try_event(struct wish wish)
{
	int fd = open_event(wish);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* It is read before anything else is looked at: who gets there is told EFAULT. */
int attempt_perf_call(pid_t pid)
{
	(void)pid;
	if (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) >= 0 || errno == EFAULT)
		return 0;
	return -errno;
}

int attempt_perf_own(pid_t pid)
{
	(void)pid;
	return try_event((struct wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, -1});
}

int attempt_perf_kernel(pid_t pid)
{
	(void)pid;
	return try_event((struct wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, 0, -1});
}

int attempt_perf_cpu(pid_t pid)
{
	(void)pid;
	return try_event((struct wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, -1, 0});
}

int attempt_perf_pid(pid_t pid)
{
	return try_event(
		(struct wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, pid, -1});
}

int attempt_perf_cycles(pid_t pid)
{
	(void)pid;
	return try_event((struct wish){PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, 0, -1});
}

struct ring {
	int fd;
	void *memory;
};

static int open_ring(struct ring *ring, int cpu)
{
	size_t n = RING_BYTES + (size_t)sysconf(_SC_PAGESIZE);

	ring->memory = MAP_FAILED;
	ring->fd = open_event(
		(struct wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, cpu});
	if (ring->fd < 0)
		return ring->fd;
	ring->memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	return ring->memory == MAP_FAILED ? -errno : 0;
}

static void close_ring(struct ring *ring)
{
	if (ring->memory != MAP_FAILED)
		munmap(ring->memory, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE));
	if (ring->fd >= 0)
		close(ring->fd);
}

/* All at once: the limit is a user's. */
int attempt_perf_rings(pid_t pid)
{
	struct ring rings[MAX_RINGS];
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	int n = 0;
	int r = 0;

	(void)pid;
	while (n < n_cpus && n < MAX_RINGS && r == 0) {
		r = open_ring(&rings[n], n);
		n++;
		if (r == -ENODEV) /* a processor that is switched off */
			r = 0;
	}
	while (n > 0)
		close_ring(&rings[--n]);
	return r;
}
