/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace on its way out: encoded bytes whose number is known before the first, read once from front to back.
 *
 * Threads: none inside; one owner at a time, which need not be the thread that made it.
 */
#ifndef DAEMON_DELIVERY_H
#define DAEMON_DELIVERY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct chunks;
struct delivery;
struct diag;
struct graft;
struct run_dir;
struct space;
struct spool;
struct xspace_gaps;

/* Takes |chunks|, also on failure. Owner: *out belongs to the caller. 0 or -ENOMEM. */
int delivery_new_from_chunks(struct chunks *chunks, struct delivery **out);
/*
 * The same of what xspace_encode_around() left: the lines' stores are tracks of |spool|, which is finished and is held
 * from here on. |gaps| is not taken.
 */
int delivery_new_from_spool(struct chunks *chunks, const struct xspace_gaps *gaps,
	struct spool *spool, struct delivery **out);
/* All bytes of |spool|, which is finished and is held from here on. 0 or -ENOMEM. */
int delivery_new_from_file(struct spool *spool, struct delivery **out);
/* The same of a graft of the spool's bytes, whose frame it takes. */
int delivery_new_from_graft(struct graft *graft, struct spool *spool, struct delivery **out);
/* Has |next| (taken) follow behind |d|: one delivery of both. Before anything was read. */
void delivery_append(struct delivery *d, struct delivery *next);
struct delivery *delivery_free(struct delivery *d); /* NULL ok; returns NULL */

/* Of the whole, whatever was read of it. 0 for NULL. */
uint64_t delivery_get_bytes(const struct delivery *d);

/*
 * The next bytes, at most |n|: their number, 0 at the end, or a negative errno when they cannot be had any more (the
 * disk that held them failed). Fewer than |n| are not the end.
 */
ssize_t delivery_read(struct delivery *d, uint8_t *to, size_t n);

/*
 * The next bytes without a copy, if they lie in memory, in a row, and are worth it: appends at most |n| of them to |to|. How many
 * they are; 0: they are to be read.
 */
size_t delivery_lend(struct delivery *d, size_t n, struct chunks *to);

/* |n| bytes, all of them. 0, or a negative errno: -EIO when there are fewer. */
int delivery_read_all(struct delivery *d, uint8_t *to, size_t n);

/* Reads and decodes all of |d|. Owner: *out belongs to the caller. 0 or a negative errno: as above, or -EBADMSG. */
int delivery_decode(struct delivery *d, struct space **out);

/* Writes what was not read yet to |dir|. 0, or a negative errno with |diag|. */
int delivery_write(struct delivery *d, struct run_dir *dir, struct diag *diag);

/*
 * Moves everything behind |to|, without a copy; what lies in a spool is mapped. Nothing must have been read before of a
 * delivery from a spool. An error is kept in |to|.
 */
void delivery_take_chunks(struct delivery *d, struct chunks *to);

#endif
