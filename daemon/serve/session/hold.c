/* SPDX-License-Identifier: Apache-2.0 */
/* Holds of dead programs' data; see hold.h. */
#include "daemon/serve/session/hold.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/target/target.h"

#define HELD_NS (300 * NS_PER_S)
/*
 * The robust word (a robust futex) is marked some milliseconds before the process has ended or has
 * become another program by exec.
 */
#define FIRST_INTERVAL_NS (10 * NS_PER_MS)
/* The interval grows only to about this, so that the private socket's removal is noticed soon. */
#define LAST_INTERVAL_NS (500 * NS_PER_MS)

/* --- marks ------------------------------------------------------------------------------------ */

#define SUFFIX ".held"
#define NAME_BYTES 64

/* The marks of one kind, and the oldest one that belongs to another server. */
struct mark_count {
	unsigned n;
	int64_t oldest_ns; /* Unix time */
	char oldest[NAME_MAX + 1]; /* "": there is none */
};

struct mark_sweep {
	const char *own; /* file name */
	const char *name; /* of the program */
	struct mark_count all;
	struct mark_count same; /* of programs of that name */
};

/*
 * Makes the mark. One that an earlier process of the same pid left is replaced, by rename().
 * Servers recognise their marks by inode: both files exist until the rename, so the new one has
 * another inode.
 */
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

static void count_mark(struct mark_count *k, const char *file, int64_t made_ns, bool is_own)
{
	k->n++;
	if (is_own || (k->oldest[0] && made_ns >= k->oldest_ns))
		return;
	k->oldest_ns = made_ns;
	snprintf(k->oldest, sizeof k->oldest, "%s", file);
}

static void visit_mark(struct mark_sweep *s, int dir_fd, const char *file)
{
	const char *end = strrchr(file, '.');
	bool is_own = strcmp(file, s->own) == 0;
	char name[NAME_BYTES + 1];
	struct stat st;
	int64_t made_ns;

	if (!end || strcmp(end, SUFFIX) != 0 || fstatat(dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) ||
		!S_ISREG(st.st_mode) || proc_file_read(dir_fd, file, name, sizeof name))
		return;
	made_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	count_mark(&s->all, file, made_ns, is_own);
	if (strcmp(name, s->name) == 0)
		count_mark(&s->same, file, made_ns, is_own);
}

/* Returns the oldest mark if there are too many, else NULL. */
static const char *choose_mark(const struct mark_sweep *s)
{
	if (s->same.n > HOLD_MARK_MAX_OF_NAME && s->same.oldest[0])
		return s->same.oldest;
	return s->all.n > HOLD_MARK_MAX && s->all.oldest[0] ? s->all.oldest : NULL;
}

/* Removes one mark if there are too many. Returns true if it did. */
static bool sweep_marks(DIR *dir, const char *own, const char *name)
{
	struct mark_sweep s = {.own = own, .name = name};
	const char *victim;
	struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir)))
		visit_mark(&s, dirfd(dir), entry->d_name);
	victim = choose_mark(&s);
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
	while (sweep_marks(dir, own, name))
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

bool hold_mark_is_gone(const struct hold_mark *m)
{
	return atomic_load(&m->file.inode) && !socket_file_is_there(&m->file);
}

void hold_mark_remove(struct hold_mark *m)
{
	socket_file_remove(&m->file);
}

/* --- holds ------------------------------------------------------------------------------------ */

void hold_init(struct hold *h, const struct target *t, const struct socket_file *way, bool is_owed,
	int64_t now_ns)
{
	*h = (struct hold){
		.target = t,
		.way = way,
		.is_owed = is_owed,
		.interval_ns = FIRST_INTERVAL_NS,
		.until_ns = now_ns + HELD_NS,
	};
	hold_mark_make(&h->mark, way, t->name);
}

void hold_deinit(struct hold *h)
{
	hold_mark_remove(&h->mark);
}

/* Returns true if the process was another program at this check and at the previous one. */
static bool is_another(struct hold *h)
{
	bool was_another = h->was_another;

	h->was_another = target_has_become_another(h->target);
	return was_another && h->was_another;
}

bool hold_is_over(struct hold *h, int64_t now_ns)
{
	if (now_ns >= h->until_ns || !h->way || !socket_file_is_there(h->way))
		return true;
	return hold_mark_is_gone(&h->mark) || is_another(h) ||
	       (!h->is_owed && target_has_ended_well(h->target));
}

int64_t hold_get_due(struct hold *h, int64_t now_ns)
{
	int64_t due_ns = now_ns + h->interval_ns;

	if (h->interval_ns < LAST_INTERVAL_NS)
		h->interval_ns *= 2;
	return due_ns < h->until_ns ? due_ns : h->until_ns;
}
