/* SPDX-License-Identifier: Apache-2.0 */
/* Files in a process's memory; see image.h, and /proc/PID/maps in proc(5). */
#include "daemon/kernel/image.h"

#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/printable.h"

struct content {
	unsigned n_mappings;
	bool has_file;
};

static bool mapping_is_of_file(const char *line, const struct stat *file)
{
	unsigned device[2];
	uint64_t inode;

	return sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &device[0], &device[1], &inode) == 3 &&
	       inode == file->st_ino && makedev(device[0], device[1]) == file->st_dev;
}

/*
 * The file is empty for a process without memory, such as one that is ending. A long line is read
 * in several pieces; only the first has the fields.
 */
static struct content image_read_maps(pid_t pid, const struct stat *file)
{
	struct content c = {0, 0};
	char path[32];
	char line[512];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && !c.has_file && fgets(line, sizeof line, f)) {
		c.n_mappings++;
		c.has_file = mapping_is_of_file(line, file);
	}
	if (f)
		fclose(f);
	return c;
}

bool image_is_another(pid_t pid, int pidfd, int fd)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	struct content c;
	struct stat file;

	if (pidfd < 0 || fstat(fd, &file))
		return false;
	c = image_read_maps(pid, &file);
	/* The pid cannot have been reused before the process has ended. */
	return c.n_mappings && !c.has_file && poll(&ended, 1, 0) == 0;
}

void image_read_path(pid_t pid, char *out, size_t n)
{
	char link[64];
	ssize_t n_read;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	n_read = readlink(link, out, n - 1);
	out[n_read < 0 ? 0 : n_read] = '\0';
	printable_clean(out);
}
