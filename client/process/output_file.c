/* SPDX-License-Identifier: Apache-2.0 */
/* Output files; see output_file.h. */
#include "client/process/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/temporary.h"

#define MAX_LINKS 40
#define MAX_TRIES 1000

static int fail(const char *path, int error, struct diag *d)
{
	return diag_set(d, -error, "%.300s: cannot write: %s; choose another with -o", path,
		errno_words(error));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool output_file_is_standard(const char *path)
{
	struct stat link, file, standard;

	return strcmp(path, "-") == 0 ||
	       (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &file) == 0 &&
		       fstat(STDOUT_FILENO, &standard) == 0 && is_same(&file, &standard));
}

/* --- what stands there --------------------------------------------------------------------- */

static int get_dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/* Where the link at |path| leads; NULL with errno EINVAL or ENOENT: there is none. */
static char *read_link(const char *path)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof to - 1);
	char *out;

	if (n < 0)
		return NULL;
	to[n] = '\0';
	if (asprintf(&out, "%.*s%s", to[0] == '/' ? 0 : get_dir_length(path), path, to) >= 0)
		return out;
	errno = ENOMEM;
	return NULL;
}

/* Behind all links of the name, where there need be nothing yet. NULL with errno. */
static char *follow(const char *path)
{
	char *at = strdup(path);

	for (int i = 0; at && i < MAX_LINKS; i++) {
		char *next = read_link(at);

		if (!next && (errno == EINVAL || errno == ENOENT))
			return at;
		free(at);
		at = next;
	}
	if (at)
		errno = ELOOP;
	free(at);
	return NULL;
}

/* Whether it can be replaced. What a link of /proc is to may have no name any more. */
static bool is_file(const struct stat *st, const char *target)
{
	struct stat there;

	return S_ISREG(st->st_mode) && lstat(target, &there) == 0 && is_same(st, &there);
}

/* --- the file ------------------------------------------------------------------------------ */

/* With the name that is to be in it, so that a listing tells what it will be. */
static char *make_temporary(const char *path, int i)
{
	int n_dir = get_dir_length(path);
	char *temporary;

	if (asprintf(&temporary, "%.*s.%.200s.%ld.%d", n_dir, path, path + n_dir, (long)getpid(),
		    i) < 0)
		return NULL;
	return temporary;
}

/* A new one: what has the name may be a link, or a file that somebody else holds open. */
static int open_new(struct output_file *o, int i)
{
	free(o->temporary);
	o->temporary = make_temporary(o->target, i);
	if (!o->temporary)
		return -ENOMEM;
	o->fd = temporary_create(o->temporary, &o->guard);
	return o->fd < 0 ? o->fd : 0;
}

static int open_beside(struct output_file *o, struct diag *d)
{
	int r = -EEXIST;

	for (int i = 0; i < MAX_TRIES && r == -EEXIST; i++)
		r = open_new(o, i);
	return r ? fail(o->path, -r, d) : 0;
}

static int open_itself(struct output_file *o, struct diag *d)
{
	o->fd = open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return o->fd < 0 ? fail(o->path, errno, d) : 0;
}

int output_file_open(struct output_file *o, const char *path, struct diag *d)
{
	struct stat st;

	*o = (struct output_file){.path = strdup(path), .target = follow(path), .fd = -1};
	if (!o->path || !o->target)
		return fail(path, o->path ? errno : ENOMEM, d);
	if (stat(path, &st) < 0)
		return open_beside(o, d);
	if (S_ISDIR(st.st_mode))
		return fail(path, EISDIR, d);
	return is_file(&st, o->target) ? open_beside(o, d) : open_itself(o, d);
}

int output_file_publish(struct output_file *o, struct diag *d)
{
	if (!o->temporary)
		return 0;
	if (fsync(o->fd) < 0 || rename(o->temporary, o->target) < 0)
		return fail(o->path, errno, d);
	temporary_forget(o->guard);
	o->guard = NULL;
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

void output_file_close(struct output_file *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->temporary && o->fd >= 0)
		unlink(o->temporary);
	temporary_forget(o->guard);
	free(o->temporary);
	free(o->target);
	free(o->path);
	*o = (struct output_file)OUTPUT_FILE_INIT;
}
