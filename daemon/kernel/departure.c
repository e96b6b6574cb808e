/* SPDX-License-Identifier: Apache-2.0 */
/* Processes on their way out; see departure.h. */
#include "daemon/kernel/departure.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/ending.h"
#include "daemon/kernel/proc_file.h"

#define STAT_BYTES 1024
/* Of 100 GB that takes seconds. A file that is slow to close may take for ever. */
#define MAX_ENDING_NS (10 * NS_PER_S)
/* In an exec threads end, too. Who has called exit() may not have come to its own end yet. */
#define MAX_LIVING_NS (20 * NS_PER_MS)
#define LOOK_MS 1

int departure_open(pid_t pid)
{
	char path[32];
	char text[STAT_BYTES];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		proc_file_reread(fd, text, sizeof text);
	return fd;
}

enum departure departure_look(int stat_fd, int pidfd, int timeout_ms, int *status)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	char text[STAT_BYTES] = "";
	int found;

	if (pidfd < 0)
		return DEPARTURE_NONE;
	proc_file_reread(stat_fd, text, sizeof text);
	found = ending_parse(text);
	if (found >= 0)
		*status = found;
	if (poll(&ended, 1, timeout_ms) == 1)
		return DEPARTURE_OVER;
	return proc_stat_is_ending(text) ? DEPARTURE_BEGUN : DEPARTURE_NONE;
}

enum departure departure_await(int stat_fd, int pidfd, int *status)
{
	int64_t now_ns = monotonic_ns();
	int64_t give_up_ns = now_ns + MAX_ENDING_NS;
	int64_t lives_ns = now_ns + MAX_LIVING_NS; /* as it seems, if nothing is seen until then */
	enum departure where;

	do {
		where = departure_look(stat_fd, pidfd, LOOK_MS, status);
		now_ns = monotonic_ns();
		if (where == DEPARTURE_BEGUN)
			lives_ns = now_ns + MAX_LIVING_NS;
	} while (pidfd >= 0 && where != DEPARTURE_OVER && now_ns < lives_ns && now_ns < give_up_ns);
	return where;
}
