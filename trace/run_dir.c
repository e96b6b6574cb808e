/* SPDX-License-Identifier: Apache-2.0 */
/* Makes run directories, and removes what was not published. */
#include "trace/run_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"

#define MAX_RUN_BYTES 127

static const char name_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

void run_dir_sanitise(char *name)
{
	for (char *p = name; *p; p++)
		if (!strchr(name_letters, *p))
			*p = '_';
	if (name[0] == '.')
		name[0] = '_';
}

int run_dir_check_name(const char *name, struct diag *d)
{
	size_t n = strlen(name);

	if (n == 0 || n > MAX_RUN_BYTES || name[0] == '.' || name[strspn(name, name_letters)])
		return diag_set(d, -EINVAL,
			"run \"%.150s\": must be 1 to %d letters, digits, '.', '_' or '-', and not "
			"begin with '.'",
			name, MAX_RUN_BYTES);
	return 0;
}

/* Makes |path|, a prefix of r->path. 1: it exists already. */
static int make_dir(struct run_dir *r, const char *path, struct diag *d)
{
	struct stat st;
	int error;

	if (mkdir(path, 0777) == 0)
		return 0;
	error = errno;
	/* A read-only or forbidden parent may have the directory all the same. */
	if (stat(path, &st) < 0)
		return run_dir_fail(d, -error, path, "cannot make the directory");
	if (!S_ISDIR(st.st_mode))
		return run_dir_fail(d, -ENOTDIR, path, "cannot be used");
	r->n_kept = strlen(path);
	return 1;
}

/* Makes every directory above the run. */
static int make_parents(struct run_dir *r, struct diag *d)
{
	_cleanup_free_ char *path = strdup(r->path);
	char *end = path ? strrchr(path, '/') : NULL;

	if (!path)
		return diag_set(d, -ENOMEM, "%s: out of memory", r->path);
	*end = '\0';
	for (char *p = path + 1; p <= end; p++) {
		char old = *p;
		int made;

		if (old != '/' && old != '\0')
			continue;
		*p = '\0';
		made = make_dir(r, path, d);
		*p = old;
		if (made < 0)
			return made;
	}
	return 0;
}

static int set_path(struct run_dir *r, const char *name, int suffix)
{
	free(r->run);
	free(r->path);
	r->path = NULL;
	r->run = NULL;
	if (suffix > 1 ? asprintf(&r->run, "%s_%d", name, suffix) < 0
		       : asprintf(&r->run, "%s", name) < 0) {
		r->run = NULL;
		return -ENOMEM;
	}
	if (asprintf(&r->path, "%s/plugins/profile/%s", r->log_dir, r->run) < 0) {
		r->path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Makes the first of NAME, NAME_2, NAME_3 … that does not exist. */
static int make_new_run(struct run_dir *r, const char *name, struct diag *d)
{
	for (int suffix = 1; suffix < RUN_DIR_MAX_SUFFIX; suffix++) {
		size_t n_kept = r->n_kept;
		int made = set_path(r, name, suffix);

		if (made < 0)
			return diag_set(d, made, "log directory: out of memory");
		made = make_dir(r, r->path, d);
		if (made <= 0)
			return made;
		r->n_kept = n_kept;
	}
	return diag_set(d, -EEXIST, "%s: exists; choose a name for the run", r->path);
}

static int make_given_run(struct run_dir *r, struct diag *d)
{
	int made = make_dir(r, r->path, d);

	return made < 0 ? made : 0;
}

static char *copy_log_dir(const char *log_dir)
{
	char *copy = strdup(*log_dir ? log_dir : ".");
	size_t n = copy ? strlen(copy) : 0;

	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = '\0';
	return copy;
}

static int run_dir_make_all(struct run_dir *r, const char *run, time_t now, struct diag *d)
{
	char stamp[32];
	struct tm tm;
	int error;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof stamp, "%Y_%m_%d_%H_%M_%S", &tm);
	if (!r->log_dir || set_path(r, run ? run : stamp, 1) < 0)
		return diag_set(d, -ENOMEM, "log directory: out of memory");
	error = make_parents(r, d);
	if (error == 0)
		error = run ? make_given_run(r, d) : make_new_run(r, stamp, d);
	if (error == 0)
		error = run_dir_open_file(r, d);
	return error;
}

int run_dir_open(
	struct run_dir *r, const char *log_dir, const char *run, time_t now, struct diag *d)
{
	int error = run ? run_dir_check_name(run, d) : 0;

	*r = (struct run_dir)RUN_DIR_INIT;
	if (error < 0)
		return error;
	r->log_dir = copy_log_dir(log_dir);
	error = run_dir_make_all(r, run, now, d);
	if (error < 0)
		run_dir_close(r);
	return error;
}

int run_dir_adopt(struct run_dir *r, int dir_fd, struct diag *d)
{
	int error;

	*r = (struct run_dir)RUN_DIR_INIT;
	r->dir_fd = dir_fd;
	if (asprintf(&r->path, "/proc/self/fd/%d", dir_fd) < 0)
		r->path = NULL;
	r->n_kept = r->path ? strlen(r->path) : 0;
	error = r->path ? run_dir_open_file(r, d) : diag_set(d, -ENOMEM, "run: out of memory");
	if (error < 0)
		run_dir_close(r);
	return error;
}

/* Removes, from the end, the directories that run_dir_open() made; stops at one in use. */
static void remove_made_dirs(struct run_dir *r)
{
	while (strlen(r->path) > r->n_kept && (rmdir(r->path) == 0 || errno == ENOENT)) {
		char *slash = strrchr(r->path, '/');

		if (!slash || slash == r->path)
			break;
		*slash = '\0';
	}
}

static int copy_file(int from, int to, uint64_t n_bytes)
{
	off_t at = 0;

	while ((uint64_t)at < n_bytes) {
		ssize_t n = sendfile(to, from, &at, n_bytes - (uint64_t)at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	return 0;
}

int run_dir_move(struct run_dir *r, const char *log_dir, uint64_t n_bytes, struct diag *d)
{
	struct run_dir other;
	int error = run_dir_open(&other, log_dir, r->run, 0, d);

	if (error < 0)
		return error;
	error = copy_file(r->fd, other.fd, n_bytes);
	if (error < 0) {
		run_dir_fail(d, error, other.path, "cannot write the trace");
		run_dir_close(&other);
		return error;
	}
	run_dir_close(r);
	*r = other;
	return 0;
}

void run_dir_close(struct run_dir *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->temporary)
		unlink(r->temporary);
	if (r->path)
		remove_made_dirs(r);
	if (r->dir_fd >= 0)
		close(r->dir_fd);
	free(r->temporary);
	free(r->path);
	free(r->run);
	free(r->log_dir);
	*r = (struct run_dir)RUN_DIR_INIT;
}
