/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large file, written by a thread of its own while what comes next is received: receiving and writing cost about as much.
 * What is small, and where there is one processor only, is written at once.
 *
 * Threads: all functions from one.
 */
#ifndef CLIENT_WRITE_BEHIND_H
#define CLIENT_WRITE_BEHIND_H

#include <stddef.h>
#include <stdint.h>

struct write_behind;

/* To |fd|, which stays the caller's, and is open until the end. NULL when memory ran out. */
struct write_behind *write_behind_new(int fd);
/* NULL ok; returns NULL. As write_behind_finish(). */
struct write_behind *write_behind_free(struct write_behind *w);

/* The next bytes, copied. 0 or a negative errno, which may be that of earlier ones; it stays. */
int write_behind_write(struct write_behind *w, const uint8_t *data, size_t n);
/* All is written: 0 or a negative errno, as above. */
int write_behind_finish(struct write_behind *w);

#endif
