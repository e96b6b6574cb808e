/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a large file in a thread of its own while the caller receives the next bytes, because
 * receiving and writing take about the same time. A small file, and every file on a machine with
 * one processor, is written by the caller's thread.
 *
 * Threads: one thread calls all functions.
 *
 * file_window_advance() gives back the pages of a large mapped file, window by window, while it is
 * read once.
 */
#ifndef CLIENT_WRITE_BEHIND_H
#define CLIENT_WRITE_BEHIND_H

#include <stddef.h>
#include <stdint.h>

struct write_behind;

/*
 * The caller keeps |fd| and does not close it before write_behind_free(). NULL when memory ran out.
 */
struct write_behind *write_behind_new(int fd);
/* Calls write_behind_finish() first. Accepts NULL; returns NULL. */
struct write_behind *write_behind_free(struct write_behind *w);

/*
 * Copies the next bytes. 0 or a negative errno, which may be about earlier bytes;
 * write_behind_finish() returns the error again.
 */
int write_behind_write(struct write_behind *w, const uint8_t *data, size_t n);
/* Waits until all is written. 0 or a negative errno, as above. */
int write_behind_finish(struct write_behind *w);

/* --- windows of a file ------------------------------------------------------------------------ */

struct file_window {
	uint8_t *map; /* the mapping of the file; it is only read */
	uint8_t *from; /* the pages before |from| have been given back; |map| at first */
};

/*
 * Gives back the pages before |p|; they may be read again. |context| is a struct file_window, as
 * outline_read() and split.h pass it. 0, or -EINTR when the user gave up.
 */
int file_window_advance(const uint8_t *p, void *context);

#endif
