/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a capture's events go, encoded: a file without a name, for those that memory has no room for, which is gone with
 * its last holder, or memory.
 *
 * Threads: one writes; who reads does so after that.
 */
#ifndef DAEMON_SPOOL_H
#define DAEMON_SPOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunks;
struct diag;
struct spool;

/*
 * A file in |dir|, or with NULL in the first of $TMPDIR, /var/tmp and /tmp that can be written to; one on a disk is
 * preferred to one in memory. It takes |max_bytes| at most, and half of what the disk has left.
 * Owner: *out has one holder, the caller. A negative errno with |d|.
 */
int spool_new(const char *dir, uint64_t max_bytes, struct spool **out, struct diag *d);
/*
 * No file, but memory that is taken as it is written to; |max_bytes| are an upper bound. It takes what lies in its room
 * (spool_get_room()), and nothing else. Owner: as above. 0 or -ENOMEM.
 */
int spool_new_in_memory(uint64_t max_bytes, struct spool **out);
/*
 * Of one in memory: |data| (malloc'ed) is read from its beginning on, and what was read of it is as good as fresh memory, which
 * costs a page fault for each 4 KiB. Owner: the spool, or on failure the caller. 0 or -ENOMEM. Any thread.
 */
int spool_take_used(struct spool *s, void *data);
/* Of what was taken last nobody reads the first |n_bytes| any more, of what was taken before nothing. Any thread. */
void spool_reuse(struct spool *s, size_t n_bytes);
struct spool *spool_hold(struct spool *s); /* one holder more */
struct spool *spool_release(struct spool *s); /* NULL ok; returns NULL */

/* Calls |free_object| with |object| when the spool is freed. 0, or -ENOMEM: the caller keeps |object|. */
int spool_own(struct spool *s, void *object, void (*free_object)(void *object));

/*
 * Empty: where the writer encodes what it appends next, |max_bytes| at most; SIZE_MAX: it does not know how much. The spool's,
 * until it is asked again.
 */
struct chunks *spool_get_room(struct spool *s, size_t max_bytes);

/*
 * Appends all of |c|: *offset_out is where it begins. Otherwise nothing, and nothing from then on: -ENOBUFS at
 * |max_bytes|, or what the disk says, which stays in spool_get_error().
 */
int spool_append(struct spool *s, const struct chunks *c, uint64_t *offset_out);
/* The same of |n| bytes at |data|. */
int spool_append_bytes(struct spool *s, const uint8_t *data, size_t n);
int spool_get_error(const struct spool *s); /* 0 or a negative errno. Any thread */

/* All |n| bytes at |offset|: 0 or a negative errno. */
int spool_read(const struct spool *s, uint64_t offset, uint8_t *to, size_t n);

/* |others| bytes are used of what it may take, elsewhere: then it takes as much less. Borrowed. */
void spool_set_others(struct spool *s, const _Atomic uint64_t *others);
/* How many bytes are in it, for who looks often; lives as long as the spool. */
const _Atomic uint64_t *spool_watch_bytes(const struct spool *s);

/* How many bytes are in it, and how many it takes at most. Any thread. */
uint64_t spool_get_bytes(const struct spool *s);
uint64_t spool_get_max_bytes(const struct spool *s);
/* For people. */
const char *spool_get_dir(const struct spool *s);

/* Where what lies at |offset| is in memory: of a file that was mapped, and hasn't got any longer since, or of memory. */
const uint8_t *spool_find(const struct spool *s, uint64_t offset);
bool spool_is_memory(const struct spool *s);

/*
 * The file as memory to read, for as long as somebody holds it: the pages are the file's. NULL when there is no room
 * for it. |s| holds it; called again, after more was appended, it may lie elsewhere.
 */
const uint8_t *spool_map(struct spool *s);

#endif
