/* SPDX-License-Identifier: Apache-2.0 */
/* Output files; see output_file.h. */
#include "client/process/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

/* --- temporary files ----------------------------------------------------------------------- */

/*
 * A file that has or had its temporary name. The signal handler may read the list at any time and
 * in any thread, so entries are never freed.
 */
struct temporary {
	struct temporary *next;
	_Atomic bool is_there;
	char path[];
};

static const int ending_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define N_SIGNALS (sizeof ending_signals / sizeof ending_signals[0])

static struct temporary *_Atomic first_temporary;

static void remove_temporaries(int number)
{
	for (struct temporary *t = atomic_load(&first_temporary); t; t = t->next)
		if (atomic_load(&t->is_there))
			unlink(t->path);
	/* The signal ends the program when the handler has returned, because of SA_RESETHAND. */
	raise(number);
}

static void collect_ending_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(set, ending_signals[i]);
}

/* Handles ending signals, except those that the program ignores or handles already. */
static void catch_signals(const sigset_t *set)
{
	struct sigaction action = {.sa_handler = remove_temporaries, .sa_flags = SA_RESETHAND};
	struct sigaction old;

	action.sa_mask = *set;
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(ending_signals[i], &action, NULL);
}

static struct temporary *new_temporary(const char *path)
{
	size_t n = strlen(path) + 1;
	struct temporary *t = malloc(sizeof *t + n);

	if (!t)
		return NULL;
	memcpy(t->path, path, n);
	atomic_init(&t->is_there, true);
	return t;
}

static void list_temporary(struct temporary *t)
{
	t->next = atomic_load(&first_temporary);
	while (!atomic_compare_exchange_weak(&first_temporary, &t->next, t))
		continue;
}

/*
 * Creates the file |path|, which must not exist, for reading and writing. Returns the descriptor,
 * with *out for temporary_forget(), or a negative errno.
 */
static int temporary_create(const char *path, struct temporary **out)
{
	struct temporary *t = new_temporary(path);
	sigset_t set, before;
	int fd;

	if (!t)
		return -ENOMEM;
	collect_ending_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		fd = -errno;
		free(t);
	} else {
		list_temporary(t);
		catch_signals(&set);
		*out = t;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/* Call it when the file has been renamed or removed. NULL is allowed. */
static void temporary_forget(struct temporary *t)
{
	if (t)
		atomic_store(&t->is_there, false);
}

#define MAX_LINKS 40
#define MAX_TRIES 1000

static int fail_write(const char *path, int error, struct diag *d)
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

/* --- links --------------------------------------------------------------------------------- */

static int get_dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/*
 * Returns the target of the link at |path|, malloc'ed. NULL with errno; EINVAL or ENOENT: |path| is
 * no link.
 */
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

/* Returns |path| with all links followed, malloc'ed. The file need not exist. NULL with errno. */
static char *follow_links(const char *path)
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

/*
 * Returns true if a new file can be renamed over |target|. The target of a link in /proc may have
 * no name.
 */
static bool can_be_replaced(const struct stat *st, const char *target)
{
	struct stat there;

	return S_ISREG(st->st_mode) && lstat(target, &there) == 0 && is_same(st, &there);
}

/* --- the file ------------------------------------------------------------------------------ */

/*
 * The temporary name is a dot, the final name and numbers, so that "ls -a" shows what the file
 * will be.
 */
static char *make_temporary(const char *path, int i)
{
	int n_dir = get_dir_length(path);
	char *temporary;

	if (asprintf(&temporary, "%.*s.%.200s.%ld.%d", n_dir, path, path + n_dir, (long)getpid(),
		    i) < 0)
		return NULL;
	return temporary;
}

/* Creates a new file: an existing one of that name may be a link, or open in another process. */
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
	return r ? fail_write(o->path, -r, d) : 0;
}

static int open_itself(struct output_file *o, struct diag *d)
{
	o->fd = open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return o->fd < 0 ? fail_write(o->path, errno, d) : 0;
}

int output_file_open(struct output_file *o, const char *path, struct diag *d)
{
	struct stat st;

	*o = (struct output_file){.path = strdup(path), .target = follow_links(path), .fd = -1};
	if (!o->path || !o->target)
		return fail_write(path, o->path ? errno : ENOMEM, d);
	if (stat(path, &st) < 0)
		return open_beside(o, d);
	if (S_ISDIR(st.st_mode))
		return fail_write(path, EISDIR, d);
	return can_be_replaced(&st, o->target) ? open_beside(o, d) : open_itself(o, d);
}

int output_file_publish(struct output_file *o, struct diag *d)
{
	if (!o->temporary)
		return 0;
	if (fsync(o->fd) < 0 || rename(o->temporary, o->target) < 0)
		return fail_write(o->path, errno, d);
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
