/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool holds a capture's encoded events: in an unlinked file if they may be too many for memory,
 * else in memory; its maker decides once. It is freed with its last holder.
 *
 * Threads: one writes; others read after that.
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
 * Opens a file in |dir|, or with NULL in the first of $TMPDIR, /var/tmp and /tmp that can be
 * written to; a directory on a disk is preferred to one in memory. The spool takes |max_bytes| at
 * most, and at most half of the disk's free space. Owner: *out has one holder, the caller. A
 * negative errno with |d|.
 */
int spool_new(const char *dir, uint64_t max_bytes, struct spool **out, struct diag *d);
/*
 * Opens a file in |dir| that run_dir_link() can give a name. The spool may take all of the disk's
 * free space, since no copy of the file is made. 0; -ENOMEM, or another negative errno if there
 * cannot be such a file.
 */
int spool_new_linkable(const char *dir, uint64_t max_bytes, struct spool **out);
/*
 * Makes a spool without a file: memory that is allocated as it is written to, |max_bytes|
 * at most. The spool takes only bytes that lie in its room (spool_get_room()). Owner: as
 * above. 0 or -ENOMEM.
 */
int spool_new_in_memory(uint64_t max_bytes, struct spool **out);
/*
 * Gives |data| (malloc'ed) to a spool in memory. The caller reads |data| from its beginning on, and
 * the spool writes to the part that was read, because fresh memory costs a page fault for each 4
 * KiB. Owner: the spool, or on failure the caller. 0 or -ENOMEM. Any thread may call it.
 */
int spool_take_used(struct spool *s, void *data);
/*
 * Lets the spool write to the first |n_bytes| of the data that it took last, because these were
 * read. Changes nothing for data that it took earlier. Any thread may call it.
 */
void spool_reuse(struct spool *s, size_t n_bytes);
struct spool *spool_hold(struct spool *s); /* adds a holder */
struct spool *spool_release(struct spool *s); /* NULL ok; returns NULL */

/*
 * Calls |free_object| with |object| when the spool is freed. 0, or -ENOMEM: the caller keeps
 * |object|.
 */
int spool_own(struct spool *s, void *object, void (*free_object)(void *object));

/*
 * Returns empty chunks into which the writer encodes the next |max_bytes| or less; SIZE_MAX:
 * unknown. Borrowed until the next call.
 */
struct chunks *spool_get_room(struct spool *s, size_t max_bytes);

/*
 * Appends all of |c|, and sets *offset_out to its place. On failure nothing is appended, and later
 * calls fail, too: -ENOBUFS at |max_bytes|, or the errno of the disk. Either one stays in
 * spool_get_error().
 */
int spool_append(struct spool *s, const struct chunks *c, uint64_t *offset_out);
/* Appends |n| bytes at |data| in the same way. */
int spool_append_bytes(struct spool *s, const uint8_t *data, size_t n);
int spool_get_error(const struct spool *s); /* 0 or a negative errno. Any thread */

/* Reads |n| bytes at |offset|. 0 or a negative errno. */
int spool_read(const struct spool *s, uint64_t offset, uint8_t *to, size_t n);

/* Counts |others|, bytes that are used elsewhere, against the spool's limit. Borrowed. */
void spool_set_others(struct spool *s, const _Atomic uint64_t *others);
/* The counter of the spool's bytes, for a frequent reader; exists as long as the spool. */
const _Atomic uint64_t *spool_watch_bytes(const struct spool *s);

/* The bytes in the spool, and the most that it takes. Any thread may call it. */
uint64_t spool_get_bytes(const struct spool *s);
uint64_t spool_get_max_bytes(const struct spool *s);
/* The directory, for messages. */
const char *spool_get_dir(const struct spool *s);

/* The address of the bytes at |offset|. A file must be mapped, and must not have grown since. */
const uint8_t *spool_find(const struct spool *s, uint64_t offset);
bool spool_is_memory(const struct spool *s);
/* The file of the spool; -1: it is memory. Borrowed. */
int spool_get_fd(const struct spool *s);

/*
 * Maps the file for reading, for as long as the spool has a holder. NULL when it cannot be mapped.
 * A later call, after more was appended, may return another address.
 */
const uint8_t *spool_map(struct spool *s);

#endif
