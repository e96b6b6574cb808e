/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries in a process's memory; see mapped.h, and /proc/PID/maps in proc(5). */
#include "daemon/kernel/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/printable.h"

/* The kernel returns a page at a time. */
#define PIECE_BYTES 4096u

int mapped_search_begin(
	struct mapped_search *l, const char *root, pid_t pid, const char *(*name_at)(unsigned i))
{
	char path[4096];

	snprintf(path, sizeof path, "%s/proc/%d/maps", root, (int)pid);
	l->name_at = name_at;
	l->n_rest = 0;
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	return l->fd < 0 ? -errno : 0;
}

void mapped_search_end(struct mapped_search *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/*
 * Searches the |n| bytes of |text|: the rest kept from the last piece, and the new piece after it.
 * Keeps the end of |text|, since a name may begin there.
 */
static int mapped_search_find(struct mapped_search *l, const char *text, size_t n)
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

static int mapped_search_read_piece(struct mapped_search *l, size_t *n_read)
{
	char text[sizeof l->rest + PIECE_BYTES];
	ssize_t n;

	memcpy(text, l->rest, l->n_rest);
	n = read(l->fd, text + l->n_rest, PIECE_BYTES);
	if (n < 0)
		return -errno;
	*n_read = (size_t)n;
	return n ? mapped_search_find(l, text, l->n_rest + (size_t)n) : MAPPED_NO;
}

int mapped_search_step(struct mapped_search *l, size_t n_bytes)
{
	size_t n_read = 0;
	int r;

	for (size_t n = 0; n < n_bytes; n += n_read) {
		r = mapped_search_read_piece(l, &n_read);
		if (r != MAPPED_MORE) {
			mapped_search_end(l);
			return r;
		}
	}
	return MAPPED_MORE;
}

/* --- image ------------------------------------------------------------------------------------ */

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
 * Reads /proc/PID/maps, which is empty for a process without memory, such as one that is ending. A
 * long line is read in several pieces; only the first has the fields.
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
	/* A process that has not ended still has its pid, so the maps read above are its own. */
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
