/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relies on the numbers of its descriptors. In every phase open() must return the lowest number
 * that the host does not use. A thread tries the next numbers all the time, and lists
 * /proc/self/fd; it must never see a descriptor that the host did not open. usage: numbers STARTS
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static atomic_int quit;
static atomic_int n_scans;
static atomic_ullong strangers; /* one bit for each number that the host did not open */

static void list(int expected)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] != '.' && fd > expected && fd != dirfd(d))
			atomic_fetch_or(&strangers, 1ULL << (fd & 63));
	}
	if (d)
		closedir(d);
}

static void *scan_all(void *unused)
{
	while (!quit) {
		list(2);
		for (int i = 0; i < 1000; i++)
			for (int fd = 3; fd < 6; fd++)
				if (fcntl(fd, F_GETFD) >= 0)
					atomic_fetch_or(&strangers, 1ULL << fd);
		n_scans++;
	}
	return unused;
}

static void start_while_scanned(int n)
{
	pthread_t thread;

	pthread_create(&thread, NULL, scan_all, NULL);
	while (n_scans < 10)
		usleep(100);
	for (int i = 0; i < n; i++) {
		GUEST_STOP();
		GUEST_START();
	}
	quit = 1;
	pthread_join(thread, NULL);
	printf("strangers %#llx\n", (unsigned long long)strangers);
}

static void print_numbers(const char *when)
{
	int fds[5];
	int pair[2];

	PTAP_SPAN("numbers");
	for (int i = 0; i < 5; i++)
		fds[i] = open("/dev/null", O_RDONLY);
	close(fds[1]);
	close(fds[3]);
	printf("%s: %d %d %d", when, fds[0], fds[2], fds[4]);
	if (pipe(pair) == 0)
		printf(", pipe %d %d\n", pair[0], pair[1]);
	close(pair[0]);
	close(pair[1]);
	close(fds[0]);
	close(fds[2]);
	close(fds[4]);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	print_numbers("before");
	start_while_scanned(argc > 1 ? atoi(argv[1]) : 1);
	print_numbers("with a server");
	/* This must close no descriptor but the host's own. */
	close_range(3, ~0U, 0);
	print_numbers("after closing all");
	GUEST_STOP();
	print_numbers("stopped");
	return 0;
}
