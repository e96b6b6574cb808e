/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens regular files as a process sees them. The process may be in a container, may put anything
 * at a path, and may change it at any time. So a path is resolved within the root of the process,
 * and what is there is opened only after it has proved to be a regular file: to open a device can
 * have effects, and to open a FIFO can wait.
 *
 * A file system of the process (FUSE) can still let the calling thread wait.
 */
#ifndef DAEMON_TARGET_FILE_H
#define DAEMON_TARGET_FILE_H

#include <stdint.h>
#include <sys/types.h>

struct stat;

/* A file that a process has mapped, as the kernel describes it. */
struct mapped_file {
	uint64_t start; /* address of the mapping */
	uint64_t end;
	dev_t device;
	uint64_t inode; /* 0: the device and the inode are not known */
	const char *path; /* in the process */
};

/*
 * Opens the regular file |path| (absolute) for reading, below the root of the process |pid|.
 * |flags| is 0, or O_NOFOLLOW if the path itself must not be a symbolic link. |root| is "" or a
 * test's fake root. Returns a descriptor, which the caller owns, and sets *st; or a negative
 * errno, -EINVAL if that is no regular file.
 */
int target_file_open(const char *root, pid_t pid, const char *path, int flags, struct stat *st);
/* The same below our own root. */
int own_file_open(const char *root, const char *path, struct stat *st);

/*
 * Opens the file of a mapping in any way that finds the same device and inode: by map_files, as the
 * program of the process, by the path in the process, by the path here. If the inode is not
 * known, the first file that is found is taken, and the caller must compare the build-ids.
 * The result is that of target_file_open(); -ENOENT: the file cannot be found, or is another one.
 */
int target_file_open_mapped(
	const char *root, pid_t pid, const struct mapped_file *file, struct stat *st);

#endif
