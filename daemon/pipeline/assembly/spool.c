/* SPDX-License-Identifier: Apache-2.0 */
/* A capture's file; see spool.h. */
#include "daemon/pipeline/assembly/spool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "base/grow.h"
#include "base/pages.h"
#include "daemon/kernel/spool_place.h"
#include "daemon/pipeline/assembly/used_rooms.h"

/* An object that lives as long as the spool. */
struct owned_object {
	void *object;
	void (*free_object)(void *object);
};

struct spool {
	_Atomic int n_holders;
	/* -1: the spool is memory: |map|, of max_bytes, and |used|. Its offsets are addresses */
	int fd;
	char dir[256];
	uint64_t max_bytes;
	_Atomic uint64_t n_bytes;
	const _Atomic uint64_t
		*others; /* bytes of |max_bytes| that are used elsewhere; NULL: none are */
	_Atomic int error;
	struct owned_object *owned;
	size_t n_owned;
	size_t n_owned_allocated;
	uint8_t *map; /* NULL: not mapped */
	size_t map_bytes;
	struct used_rooms used;
	/* bytes of the map that were written to; only the writer uses it and the two below */
	uint64_t n_fresh;
	uint8_t *lent; /* the first byte of the room; only in memory */
	struct chunks room;
};

bool spool_is_memory(const struct spool *s)
{
	return s->fd < 0;
}

int spool_get_fd(const struct spool *s)
{
	return s->fd;
}

/* --- life ---------------------------------------------------------------------------------- */

/* Takes |fd|, also on failure. */
static int new_in_file(int fd, const char *place, uint64_t max_bytes, struct spool **out)
{
	struct spool *s = calloc(1, sizeof *s);

	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->n_holders = 1;
	s->fd = fd;
	used_rooms_init(&s->used);
	s->max_bytes = max_bytes;
	snprintf(s->dir, sizeof s->dir, "%s", place);
	*out = s;
	return 0;
}

int spool_new(const char *dir, uint64_t max_bytes, struct spool **out, struct diag *d)
{
	const char *place;
	int fd = spool_place_open(dir, &place);
	uint64_t room;

	if (fd < 0)
		return diag_set(d, fd, "%s: %s", place, errno_words(-fd));
	room = spool_place_find_room(fd);
	return new_in_file(fd, place, room < max_bytes ? room : max_bytes, out);
}

int spool_new_linkable(const char *dir, uint64_t max_bytes, struct spool **out)
{
	int fd = spool_place_open_linkable(dir);

	return fd < 0 ? fd : new_in_file(fd, dir, max_bytes, out);
}

int spool_new_in_memory(uint64_t max_bytes, struct spool **out)
{
	struct spool *s = calloc(1, sizeof *s);
	void *map = mmap(NULL, max_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!s || map == MAP_FAILED) {
		if (map != MAP_FAILED)
			munmap(map, max_bytes);
		free(s);
		return -ENOMEM;
	}
	pages_make_large(map, max_bytes);
	s->n_holders = 1;
	s->fd = -1;
	used_rooms_init(&s->used);
	s->map = map;
	s->map_bytes = s->max_bytes = max_bytes;
	snprintf(s->dir, sizeof s->dir, "memory");
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
	for (size_t i = 0; i < s->n_owned; i++)
		s->owned[i].free_object(s->owned[i].object);
	free(s->owned);
	chunks_deinit(&s->room);
	used_rooms_deinit(&s->used);
	if (s->map)
		munmap(s->map, s->map_bytes);
	if (!spool_is_memory(s))
		close(s->fd);
	free(s);
	return NULL;
}

int spool_own(struct spool *s, void *object, void (*free_object)(void *object))
{
	if (grow(&s->owned, &s->n_owned_allocated, s->n_owned + 1))
		return -ENOMEM;
	s->owned[s->n_owned++] = (struct owned_object){object, free_object};
	return 0;
}

/* --- bytes --------------------------------------------------------------------------------- */

static int spool_fail(struct spool *s, int error)
{
	atomic_store(&s->error, error);
	return error;
}

static void keep_map(void *spool)
{
	(void)spool;
}

int spool_take_used(struct spool *s, void *data)
{
	return used_rooms_add(&s->used, data);
}

void spool_reuse(struct spool *s, size_t n_bytes)
{
	used_rooms_let_go(&s->used, n_bytes);
}

static bool lent_room_is_fresh(const struct spool *s)
{
	return s->lent == s->map + s->n_fresh;
}

/* Lends room at the place where the bytes will stay. */
static void lend_memory(struct spool *s, size_t max_bytes)
{
	s->lent = used_rooms_find(&s->used, max_bytes);
	if (!s->lent) {
		s->lent = s->map + s->n_fresh;
		max_bytes = s->max_bytes - s->n_fresh;
	}
	chunks_lend_room(&s->room, s->lent, max_bytes, keep_map, s);
}

struct chunks *spool_get_room(struct spool *s, size_t max_bytes)
{
	chunks_rewind(&s->room);
	if (spool_is_memory(s))
		lend_memory(s, max_bytes);
	return &s->room;
}

/* The bytes are already in the room, unless the room was too small. */
static int write_to_memory(struct spool *s, const struct chunks *c, uint64_t *offset_out)
{
	*offset_out = (uintptr_t)s->lent;
	if (!c->total_bytes)
		return 0;
	if (c->n_chunks != 1 || c->chunks[0].data != s->lent)
		return -ENOBUFS;
	if (lent_room_is_fresh(s))
		s->n_fresh += c->total_bytes;
	else
		used_rooms_take(&s->used, c->total_bytes);
	return 0;
}

static int write_to_file(const struct spool *s, const struct chunks *c, uint64_t *offset_out)
{
	uint64_t at = *offset_out = atomic_load(&s->n_bytes);
	int r = 0;

	for (size_t i = 0; i < c->n_chunks && !r; i++) {
		r = file_write_at(s->fd, c->chunks[i].data, c->chunks[i].used_bytes, at);
		at += c->chunks[i].used_bytes;
	}
	return r;
}

static uint64_t count_room(const struct spool *s, uint64_t at)
{
	uint64_t room = s->max_bytes - at;
	uint64_t others = s->others ? atomic_load(s->others) : 0;

	return room > others ? room - others : 0;
}

int spool_append(struct spool *s, const struct chunks *c, uint64_t *offset_out)
{
	uint64_t at = atomic_load(&s->n_bytes);
	int r = atomic_load(&s->error);

	if (r)
		return r;
	if (c->total_bytes > count_room(s, at))
		return spool_fail(s, -ENOBUFS);
	r = spool_is_memory(s) ? write_to_memory(s, c, offset_out)
			       : write_to_file(s, c, offset_out);
	if (r)
		return spool_fail(s, r);
	atomic_store(&s->n_bytes, at + c->total_bytes);
	return 0;
}

int spool_append_bytes(struct spool *s, const uint8_t *data, size_t n)
{
	/* The data is only read. */
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
	if (!spool_is_memory(s))
		return file_read_at(s->fd, to, n, offset);
	memcpy(to, spool_find(s, offset), n);
	return 0;
}

const uint8_t *spool_find(const struct spool *s, uint64_t offset)
{
	return spool_is_memory(s) ? (const uint8_t *)(uintptr_t)offset : s->map + offset;
}

void spool_set_others(struct spool *s, const _Atomic uint64_t *others)
{
	s->others = others;
}

const _Atomic uint64_t *spool_watch_bytes(const struct spool *s)
{
	return &s->n_bytes;
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

	if (spool_is_memory(s) || (s->map && s->map_bytes == n))
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
