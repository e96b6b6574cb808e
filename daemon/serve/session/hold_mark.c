/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of holds; see hold_mark.h. */
#include "daemon/serve/session/hold_mark.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"

#define SUFFIX ".held"
#define NAME_BYTES 64

/* Marks of a kind: how many, and the oldest but for the own one. */
struct kind {
	unsigned n;
	int64_t oldest_ns; /* when it was made; Unix time */
	char oldest[NAME_MAX + 1]; /* "": there is none */
};

struct sweep {
	const char *own; /* file name */
	const char *name; /* of the program */
	struct kind all;
	struct kind same; /* of that name */
};

/* In place of an earlier life's, which may be looked for by its inode: the two exist at the same time. */
static int write_mark(const char *path, const char *name)
{
	char new[sizeof((struct socket_file *)0)->path + 8];
	ssize_t n;
	int fd;

	snprintf(new, sizeof new, "%s.new", path);
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	n = write(fd, name, strlen(name));
	close(fd);
	if (n >= 0 && rename(new, path) == 0)
		return 0;
	unlink(new);
	return -1;
}

static void count(struct kind *k, const char *file, int64_t made_ns, int is_own)
{
	k->n++;
	if (is_own || (k->oldest[0] && made_ns >= k->oldest_ns))
		return;
	k->oldest_ns = made_ns;
	snprintf(k->oldest, sizeof k->oldest, "%s", file);
}

static void visit(struct sweep *s, int dir_fd, const char *file)
{
	const char *end = strrchr(file, '.');
	int is_own = strcmp(file, s->own) == 0;
	char name[NAME_BYTES + 1];
	struct stat st;
	int64_t made_ns;

	if (!end || strcmp(end, SUFFIX) != 0 || fstatat(dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) ||
		!S_ISREG(st.st_mode) || proc_file_read(dir_fd, file, name, sizeof name))
		return;
	made_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	count(&s->all, file, made_ns, is_own);
	if (strcmp(name, s->name) == 0)
		count(&s->same, file, made_ns, is_own);
}

/* The one that is too many, or NULL. */
static const char *choose(const struct sweep *s)
{
	if (s->same.n > HOLD_MARK_MAX_OF_NAME && s->same.oldest[0])
		return s->same.oldest;
	return s->all.n > HOLD_MARK_MAX && s->all.oldest[0] ? s->all.oldest : NULL;
}

/* Whether one was too many, and is gone. */
static int sweep(DIR *dir, const char *own, const char *name)
{
	struct sweep s = {.own = own, .name = name};
	const char *victim;
	struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir)))
		visit(&s, dirfd(dir), entry->d_name);
	victim = choose(&s);
	return victim && unlinkat(dirfd(dir), victim, 0) == 0;
}

static void make_room(const char *path, const char *name)
{
	const char *own = strrchr(path, '/') + 1;
	char place[sizeof((struct socket_file *)0)->path];
	DIR *dir;

	snprintf(place, sizeof place, "%.*s", (int)(own - path), path);
	dir = opendir(place);
	if (!dir)
		return;
	while (sweep(dir, own, name))
		;
	closedir(dir);
}

void hold_mark_make(struct hold_mark *m, const struct socket_file *way, const char *name)
{
	const char *end = way ? strrchr(way->path, '.') : NULL;
	char short_name[NAME_BYTES];

	memset(m, 0, sizeof *m);
	if (!end || way->path[0] != '/')
		return;
	snprintf(short_name, sizeof short_name, "%s", name);
	snprintf(m->file.path, sizeof m->file.path, "%.*s" SUFFIX, (int)(end - way->path),
		way->path);
	if (write_mark(m->file.path, short_name))
		return;
	socket_file_note(&m->file);
	make_room(m->file.path, short_name);
}

int hold_mark_is_gone(const struct hold_mark *m)
{
	return atomic_load(&m->file.inode) && !socket_file_is_there(&m->file);
}

void hold_mark_remove(struct hold_mark *m)
{
	socket_file_remove(&m->file);
}
