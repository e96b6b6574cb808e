/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that annotates until its file is full; see pulse.h. */
#include "tests/programs/pulse.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <proftap/proftap.h>

#include "tests/programs/workload.h"

#define PAUSE_US 100

static struct {
	_Atomic int64_t *times;
	long n;
} pulse;

static void *beat(void *unused)
{
	for (long i = 0; i < pulse.n; i++) {
		atomic_store(&pulse.times[i], workload_clock_ns(CLOCK_REALTIME));
		{
			PTAP_SPAN_ARGS("pulse", PTAP_I("n", i));
		}
		usleep(PAUSE_US);
	}
	return unused;
}

void pulse_start(char *arguments)
{
	int fd = open(arguments, O_RDWR | O_CLOEXEC);
	pthread_t thread;
	struct stat st;

	fstat(fd, &st);
	pulse.times = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pulse.n = st.st_size / (long)sizeof *pulse.times;
	close(fd);
	pthread_create(&thread, NULL, beat, NULL);
	printf("%ld\n", pulse.n);
}
