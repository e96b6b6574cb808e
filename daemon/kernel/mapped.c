/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries in a process's memory; see mapped.h, and /proc/PID/maps in proc(5). */
#include "daemon/kernel/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The kernel returns a page at a time. */
#define PIECE_BYTES 4096u

int mapped_look_begin(
	struct mapped_look *l, const char *root, pid_t pid, const char *(*name_at)(unsigned i))
{
	char path[4096];

	snprintf(path, sizeof path, "%s/proc/%d/maps", root, (int)pid);
	l->name_at = name_at;
	l->n_rest = 0;
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	return l->fd < 0 ? -errno : 0;
}

void mapped_look_end(struct mapped_look *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/*
 * Searches |text|: the kept rest, and |n| bytes after it. Keeps the end that may be the beginning
 * of a name.
 */
static int mapped_look_find(struct mapped_look *l, const char *text, size_t n)
{
	char name[MAPPED_MAX_NAME + 2];
	size_t n_name;

	l->n_rest = 0;
	for (unsigned i = 0; l->name_at(i); i++) {
		n_name = (size_t)snprintf(name, sizeof name, "/%s", l->name_at(i));
		if (memmem(text, n, name, n_name))
			return MAPPED_YES;
		if (l->n_rest < n_name - 1)
			l->n_rest = n_name - 1;
	}
	if (l->n_rest > n)
		l->n_rest = n;
	memcpy(l->rest, text + n - l->n_rest, l->n_rest);
	return MAPPED_MORE;
}

static int mapped_look_read_piece(struct mapped_look *l, size_t *n_read)
{
	char text[sizeof l->rest + PIECE_BYTES];
	ssize_t n;

	memcpy(text, l->rest, l->n_rest);
	n = read(l->fd, text + l->n_rest, PIECE_BYTES);
	if (n < 0)
		return -errno;
	*n_read = (size_t)n;
	return n ? mapped_look_find(l, text, l->n_rest + (size_t)n) : MAPPED_NO;
}

int mapped_look_step(struct mapped_look *l, size_t n_bytes)
{
	size_t n_read = 0;
	int r;

	for (size_t n = 0; n < n_bytes; n += n_read) {
		r = mapped_look_read_piece(l, &n_read);
		if (r != MAPPED_MORE) {
			mapped_look_end(l);
			return r;
		}
	}
	return MAPPED_MORE;
}
