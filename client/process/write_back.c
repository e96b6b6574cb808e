/* SPDX-License-Identifier: Apache-2.0 */
/* Writing back; see write_back.h. The call waits where the disk's queue is full, so a thread of its own makes it. */
#include "client/process/write_back.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/* What a disk takes in the time that a thread costs, many times over. */
#define MIN_BYTES ((uint64_t)16 << 20)

/* Without a flag to wait for the end: that would take the error away from fsync(). */
static void *write_back(void *argument)
{
	int fd = (int)(intptr_t)argument;

	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close(fd);
	return NULL;
}

static int start_thread(int fd)
{
	pthread_attr_t attr;
	sigset_t before;
	sigset_t all;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* Signals are for who waits to be interrupted. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attr, write_back, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

void write_back_begin(int fd, uint64_t n_bytes)
{
	int own_fd;

	if (n_bytes < MIN_BYTES)
		return;
	/* The thread may outlive the caller's descriptor. */
	own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own_fd >= 0 && start_thread(own_fd))
		close(own_fd);
}
