/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's file; see spool.h. */
#include "daemon/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "base/grow.h"
#include "daemon/track.h"

struct spool {
	_Atomic int n_holders;
	int fd;
	char dir[256];
	uint64_t max_bytes;
	_Atomic uint64_t n_bytes;
	_Atomic int error;
	struct track **tracks;
	size_t n_tracks;
	size_t n_tracks_allocated;
	uint8_t *map; /* NULL: not mapped */
	size_t map_bytes;
	struct chunks room; /* the writer's */
};

/* --- the place ----------------------------------------------------------------------------- */

static int is_in_memory(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* Not every file system knows files without a name. */
static int open_and_unlink(const char *dir)
{
	char path[300];
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/.proftapd-XXXXXX", dir) >= sizeof path)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_in(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = open_and_unlink(dir);
	return fd < 0 ? -errno : fd;
}

/* Tries them all; the error is the last one's. */
static int open_first(const char *const *dirs, size_t n, int in_memory, const char **dir)
{
	int r = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		if (!dirs[i] || dirs[i][0] != '/' || is_in_memory(dirs[i]) != in_memory)
			continue;
		*dir = dirs[i];
		r = open_in(dirs[i]);
		if (r >= 0)
			return r;
	}
	return r;
}

static int open_anywhere(const char **dir)
{
	const char *const dirs[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp"};
	size_t n = sizeof dirs / sizeof dirs[0];
	int fd = open_first(dirs, n, 0, dir);

	return fd >= 0 ? fd : open_first(dirs, n, 1, dir);
}

/* Others need the disk, too. */
static uint64_t limit(int fd, uint64_t max_bytes)
{
	struct statvfs fs;
	uint64_t half;

	if (fstatvfs(fd, &fs))
		return max_bytes;
	half = (uint64_t)fs.f_bavail * fs.f_frsize / 2;
	return half < max_bytes ? half : max_bytes;
}

/* --- life ---------------------------------------------------------------------------------- */

int spool_new(const char *dir, uint64_t max_bytes, struct spool **out, struct diag *d)
{
	const char *place = dir ? dir : "/var/tmp";
	int fd = dir ? open_in(dir) : open_anywhere(&place);
	struct spool *s;

	if (fd < 0)
		return diag_set(d, fd, "%s: %s", place, errno_words(-fd));
	s = calloc(1, sizeof *s);
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->n_holders = 1;
	s->fd = fd;
	s->max_bytes = limit(fd, max_bytes);
	snprintf(s->dir, sizeof s->dir, "%s", place);
	*out = s;
	return 0;
}

struct spool *spool_hold(struct spool *s)
{
	atomic_fetch_add(&s->n_holders, 1);
	return s;
}

struct spool *spool_release(struct spool *s)
{
	if (!s || atomic_fetch_sub(&s->n_holders, 1) > 1)
		return NULL;
	for (size_t i = 0; i < s->n_tracks; i++)
		track_free(s->tracks[i]);
	free(s->tracks);
	chunks_deinit(&s->room);
	if (s->map)
		munmap(s->map, s->map_bytes);
	close(s->fd);
	free(s);
	return NULL;
}

struct track *spool_add_track(struct spool *s)
{
	struct track *track;

	if (grow(&s->tracks, &s->n_tracks_allocated, s->n_tracks + 1))
		return NULL;
	track = track_new();
	if (track)
		s->tracks[s->n_tracks++] = track;
	return track;
}

/* --- bytes --------------------------------------------------------------------------------- */

static int fail(struct spool *s, int error)
{
	atomic_store(&s->error, error);
	return error;
}

struct chunks *spool_get_room(struct spool *s)
{
	chunks_rewind(&s->room);
	return &s->room;
}

int spool_append(struct spool *s, const struct chunks *c, uint64_t *offset_out)
{
	uint64_t at = atomic_load(&s->n_bytes);
	int r = atomic_load(&s->error);

	*offset_out = at;
	if (r)
		return r;
	if (c->total_bytes > s->max_bytes - at)
		return fail(s, -ENOBUFS);
	for (size_t i = 0; i < c->n_chunks && !r; i++) {
		r = file_write_at(s->fd, c->chunks[i].data, c->chunks[i].used_bytes, at);
		at += c->chunks[i].used_bytes;
	}
	if (r)
		return fail(s, r);
	atomic_store(&s->n_bytes, at);
	return 0;
}

int spool_append_bytes(struct spool *s, const uint8_t *data, size_t n)
{
	/* Only read. */
	struct chunk piece = {.data = (uint8_t *)data, .used_bytes = n};
	const struct chunks bytes = {.chunks = &piece, .n_chunks = 1, .total_bytes = n};
	uint64_t offset;

	return spool_append(s, &bytes, &offset);
}

int spool_get_error(const struct spool *s)
{
	return atomic_load(&s->error);
}

int spool_read(const struct spool *s, uint64_t offset, uint8_t *to, size_t n)
{
	return file_read_at(s->fd, to, n, offset);
}

uint64_t spool_get_bytes(const struct spool *s)
{
	return atomic_load(&s->n_bytes);
}

uint64_t spool_get_max_bytes(const struct spool *s)
{
	return s->max_bytes;
}

const char *spool_get_dir(const struct spool *s)
{
	return s->dir;
}

const uint8_t *spool_map(struct spool *s)
{
	size_t n = (size_t)atomic_load(&s->n_bytes);
	void *p;

	if (s->map && s->map_bytes == n)
		return s->map;
	if (s->map)
		munmap(s->map, s->map_bytes);
	s->map = NULL;
	p = n ? mmap(NULL, n, PROT_READ, MAP_SHARED, s->fd, 0) : MAP_FAILED;

	if (p == MAP_FAILED)
		return NULL;
	s->map = p;
	s->map_bytes = n;
	return p;
}
