/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A delivery is a trace on its way out: encoded bytes, whose number is known before the first one
 * is read. They are read once, from front to back.
 *
 * Threads: starts none; one owner at a time, which need not be the thread that made it.
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
struct spool;
struct xspace_gaps;

/* Takes |chunks|, also on failure. Owner: *out belongs to the caller. 0 or -ENOMEM. */
int delivery_new_from_chunks(struct chunks *chunks, struct delivery **out);
/*
 * Does the same for the output of xspace_encode_around(). The |store| of each line is a track of
 * |spool|, which is finished; the delivery becomes a holder of the spool. |gaps| is not taken.
 */
int delivery_new_from_spool(struct chunks *chunks, const struct xspace_gaps *gaps,
	struct spool *spool, struct delivery **out);
/*
 * Makes a delivery of all bytes of |spool|, which is finished; the delivery becomes a holder
 * of it. 0 or -ENOMEM.
 */
int delivery_new_from_file(struct spool *spool, struct delivery **out);
/* Does the same for a graft of the spool's bytes. Takes the frame of |graft|. */
int delivery_new_from_graft(struct graft *graft, struct spool *spool, struct delivery **out);
/* Appends |next| (taken) to |d|, of which nothing was read yet. */
void delivery_append(struct delivery *d, struct delivery *next);
struct delivery *delivery_free(struct delivery *d); /* NULL ok; returns NULL */

/* The number of all bytes, including those that were read already. 0 for NULL. */
uint64_t delivery_get_bytes(const struct delivery *d);

/*
 * Reads at most |n| bytes. Returns their number, 0 at the end, or a negative errno when the disk
 * that holds them failed. A result below |n| is not the end.
 */
ssize_t delivery_read(struct delivery *d, uint8_t *to, size_t n);

/*
 * Appends at most |n| of the next bytes to |to| without a copy, if they are many and lie in memory
 * in a row. Returns their number; 0: the caller must read them.
 */
size_t delivery_lend(struct delivery *d, size_t n, struct chunks *to);

/* Reads exactly |n| bytes. 0, or a negative errno: -EIO when there are fewer. */
int delivery_read_all(struct delivery *d, uint8_t *to, size_t n);

/* Reads all of |d|. Owner: *bytes belongs to the caller (free). 0 or a negative errno as above. */
int delivery_load(struct delivery *d, uint8_t **bytes, size_t *n_bytes);

/*
 * Writes the bytes that were not read yet to |dir|, in which nothing was written yet. If they begin
 * with the whole file of a spool that can be linked there (spool_new_linkable()), the file is
 * linked and not copied. 0, or a negative errno with |diag|.
 */
int delivery_write(struct delivery *d, struct run_dir *dir, struct diag *diag);

/*
 * Moves all bytes behind |to|. Bytes of a spool are not copied: the spool is mapped for this, and
 * nothing must have been read before. An error stays in |to|.
 */
void delivery_take_chunks(struct delivery *d, struct chunks *to);

#endif
