/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the file of a run directory under a temporary name, and renames it. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "trace/run_dir.h"

/* A temporary name ends with N_RANDOM random characters; TRIES of them are tried. */
#define N_RANDOM 6
#define TRIES 100

/* Returns advice on an errno from the file system. */
static const char *find_advice(int error)
{
	if (error == -ENOSPC || error == -EDQUOT)
		return "free some space or choose another log directory";
	if (error == -EFBIG)
		return "allow larger files (ulimit -f)";
	return "choose another log directory";
}

int run_dir_fail(struct diag *d, int error, const char *path, const char *what)
{
	/* A long path must not push the reason out of the text. */
	return diag_set(
		d, error, "%.300s: %s: %s; %s", path, what, errno_words(error), find_advice(error));
}

/*
 * Makes a new file, and puts random letters in the place of the last ones of |path|. open() applies
 * the umask. mkostemp() would give rights to the owner only, and reading the umask means to change
 * it for a moment for every thread.
 */
static int make_file(char *path)
{
	char *letters = path + strlen(path) - N_RANDOM;

	for (int i = 0; i < TRIES; i++) {
		uint64_t number;
		int fd;

		if (getrandom(&number, sizeof number, 0) != sizeof number)
			return -EIO;
		for (int k = 0; k < N_RANDOM; k++, number /= 36)
			letters[k] = "abcdefghijklmnopqrstuvwxyz0123456789"[number % 36];
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

int run_dir_open_file(struct run_dir *r, struct diag *d)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/.proftap-XXXXXX", r->path) < 0)
		return diag_set(d, -ENOMEM, "%s: out of memory", r->path);
	fd = make_file(path);
	if (fd < 0) {
		free(path);
		return run_dir_fail(d, fd, r->path, "cannot write there");
	}
	r->fd = fd;
	r->temporary = path;
	return 0;
}

/*
 * Gives |fd| the rights of the temporary file, and the name |path|, and then renames it over the
 * temporary file.
 */
static int replace_file(const struct run_dir *r, int fd, const char *path)
{
	char link[40];
	struct stat st;
	int error;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (fstat(r->fd, &st) < 0 || fchmod(fd, st.st_mode & 07777) < 0 ||
		linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	error = rename(path, r->temporary) < 0 ? -errno : 0;
	if (error)
		unlink(path);
	return error;
}

int run_dir_link(struct run_dir *r, int fd)
{
	_cleanup_free_ char *path = NULL;
	int copy;
	int error;

	if (asprintf(&path, "%s_", r->temporary) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0 || lseek(copy, 0, SEEK_END) < 0)
		error = -errno;
	else
		error = replace_file(r, fd, path);
	if (error) {
		if (copy >= 0)
			close(copy);
		return error;
	}
	close(r->fd);
	r->fd = copy;
	return 0;
}

int run_dir_write(struct run_dir *r, const uint8_t *data, size_t n, struct diag *d)
{
	int error = file_write(r->fd, data, n);

	return error ? run_dir_fail(d, error, r->path, "cannot write the trace") : 0;
}

static int format_path(const struct run_dir *r, const char *host, const char *extension, char **out)
{
	_cleanup_free_ char *name = strdup(host);

	if (!name)
		return -ENOMEM;
	run_dir_sanitise(name);
	if (asprintf(out, "%s/%s.%s", r->path, *name ? name : "_", extension) < 0) {
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int fail_exists(struct diag *d, const char *path)
{
	return diag_set(d, -EEXIST,
		"%s: exists already and is not overwritten; choose another name for the run or the host",
		path);
}

int run_dir_check_free(const struct run_dir *r, const char *host, struct diag *d)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (format_path(r, host, "xplane.pb", &path) < 0)
		return diag_set(d, -ENOMEM, "%s: out of memory", r->path);
	return lstat(path, &st) == 0 ? fail_exists(d, path) : 0;
}

/*
 * Renames without ever replacing a file, also on file systems that cannot do it in one call (NFS).
 */
static int rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(from, to) < 0)
		return -errno;
	unlink(from);
	return 0;
}

static int sync_dir(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* File systems that cannot sync a directory return EINVAL. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return -errno;
	return 0;
}

/* Closes the file. Delayed errors of writes show here, such as a quota on NFS. */
static int finish_file(struct run_dir *r)
{
	int error;

	if (r->fd < 0)
		return 0;
	error = fsync(r->fd) < 0 ? -errno : 0;
	if (close(r->fd) < 0 && error == 0)
		error = -errno;
	r->fd = -1;
	return error;
}

/*
 * Renames the finished temporary file to *path; on success *path_out gets *path, which becomes
 * NULL.
 */
static int give_name(struct run_dir *r, char **path, char **path_out)
{
	int error = rename_new(r->temporary, *path);

	if (error < 0)
		return error;
	free(r->temporary);
	r->temporary = NULL;
	/* An error does not matter: the file is complete and has its name. */
	sync_dir(r->path);
	*path_out = *path;
	*path = NULL;
	return 0;
}

int run_dir_publish(struct run_dir *r, const char *host, char **path_out, struct diag *d)
{
	_cleanup_free_ char *path = NULL;
	int error = format_path(r, host, "xplane.pb", &path);

	if (error == 0)
		error = finish_file(r);
	if (error < 0)
		return run_dir_fail(d, error, r->path, "cannot write the trace");
	error = give_name(r, &path, path_out);
	if (error == -EEXIST)
		return fail_exists(d, path);
	return error < 0 ? run_dir_fail(d, error, path, "cannot make the file") : 0;
}

int run_dir_set_aside(struct run_dir *r, const char *host, char **path_out, struct diag *d)
{
	int error = finish_file(r);

	for (int suffix = 1; error == 0; suffix++) {
		char extension[64] = "xplane.pb.broken";
		_cleanup_free_ char *path = NULL;

		if (suffix > 1)
			snprintf(extension, sizeof extension, "xplane.pb.broken_%d", suffix);
		error = format_path(r, host, extension, &path);
		if (error == 0)
			error = give_name(r, &path, path_out);
		if (error == 0)
			return 0;
		if (error == -EEXIST && suffix < RUN_DIR_MAX_SUFFIX)
			error = 0;
	}
	return run_dir_fail(d, error, r->path, "cannot keep the broken trace");
}
