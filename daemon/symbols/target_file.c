/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a process; see target_file.h. */
#include "daemon/symbols/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Room for a fake root and a file's name in /proc. */
#define PROC_PATH_BYTES 512

/* Opens the file that the O_PATH descriptor |path_fd| refers to. */
static int open_regular(int path_fd, struct stat *st)
{
	char path[64];
	int fd;

	if (fstat(path_fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
	/* O_NONBLOCK: another process may hold a lease on the file. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_path(const char *path, int flags, struct stat *st)
{
	_cleanup_close_ int path_fd = open(path, O_PATH | O_CLOEXEC | flags);

	return path_fd < 0 ? -errno : open_regular(path_fd, st);
}

/*
 * Opens |path| with |dir_fd| as the root of all its parts. A kernel before Linux 5.6, or a seccomp
 * filter, refuses that; then absolute symbolic links lead into our own root.
 */
static int open_below(int dir_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(dir_fd, path + strspn(path, "/"), O_PATH | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

int target_file_open(const char *root, pid_t pid, const char *path, int flags, struct stat *st)
{
	char folder[PROC_PATH_BYTES];
	_cleanup_close_ int dir_fd = -1;
	_cleanup_close_ int path_fd = -1;

	if (path[0] != '/')
		return -EINVAL;
	snprintf(folder, sizeof folder, "%s/proc/%d/root", root, (int)pid);
	dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;
	path_fd = open_below(dir_fd, path, flags);
	return path_fd < 0 ? path_fd : open_regular(path_fd, st);
}

int own_file_open(const char *root, const char *path, struct stat *st)
{
	char full[PATH_MAX];

	if (path[0] != '/')
		return -EINVAL;
	if ((size_t)snprintf(full, sizeof full, "%s%s", root, path) >= sizeof full)
		return -ENAMETOOLONG;
	return open_path(full, 0, st);
}

/* --- mapped files ----------------------------------------------------------------------------- */

/* Finds the device and inode that the kernel shows for our own mapping at |start|. */
static bool find_own_mapping(uint64_t start, dev_t *device, uint64_t *inode)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	bool is_found = false;
	uint64_t at;
	unsigned major_number, minor_number;

	while (maps && !is_found && fgets(line, sizeof line, maps))
		is_found = sscanf(line, "%" SCNx64 "-%*s %*s %*s %x:%x %" SCNu64, &at,
				   &major_number, &minor_number, inode) == 4 &&
			   at == start;
	if (is_found)
		*device = makedev(major_number, minor_number);
	if (maps)
		fclose(maps);
	return is_found;
}

/*
 * Returns true if the kernel shows a mapping of |fd| with the same device and inode as that of
 * |file|. stat() shows another device on btrfs and overlayfs.
 */
static bool file_is_shown_alike(int fd, const struct mapped_file *file)
{
	size_t n = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	dev_t device;
	uint64_t inode;
	bool is_alike;

	if (page == MAP_FAILED)
		return false;
	is_alike = find_own_mapping((uintptr_t)page, &device, &inode) && device == file->device &&
		   inode == file->inode;
	munmap(page, n);
	return is_alike;
}

static bool file_is_the_mapped_one(int fd, const struct stat *st, const struct mapped_file *file)
{
	if (!file->inode)
		return true;
	return st->st_ino == file->inode &&
	       (st->st_dev == file->device || file_is_shown_alike(fd, file));
}

/* Ways to open a file; each returns a descriptor or a negative errno. */

static int open_map_file(
	const char *root, pid_t pid, const struct mapped_file *file, struct stat *st)
{
	char path[PROC_PATH_BYTES];

	snprintf(path, sizeof path, "%s/proc/%d/map_files/%" PRIx64 "-%" PRIx64, root, (int)pid,
		file->start, file->end);
	return open_path(path, 0, st);
}

static int open_program(
	const char *root, pid_t pid, const struct mapped_file *file, struct stat *st)
{
	char path[PROC_PATH_BYTES];

	(void)file;
	snprintf(path, sizeof path, "%s/proc/%d/exe", root, (int)pid);
	return open_path(path, 0, st);
}

static int open_in_process(
	const char *root, pid_t pid, const struct mapped_file *file, struct stat *st)
{
	return target_file_open(root, pid, file->path, O_NOFOLLOW, st);
}

static int open_here(const char *root, pid_t pid, const struct mapped_file *file, struct stat *st)
{
	(void)pid;
	return own_file_open(root, file->path, st);
}

int target_file_open_mapped(
	const char *root, pid_t pid, const struct mapped_file *file, struct stat *st)
{
	static int (*const ways[])(
		const char *, pid_t, const struct mapped_file *, struct stat *) = {
		open_map_file,
		open_program,
		open_in_process,
		open_here,
	};
	int fd;

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		/* Without an inode, the program cannot be told from another file. */
		if (!file->inode && ways[i] == open_program)
			continue;
		fd = ways[i](root, pid, file, st);
		if (fd >= 0 && file_is_the_mapped_one(fd, st, file))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}
