/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of buffers, and the thread that writes them; see write_behind.h. */
#include "client/process/write_behind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cpus.h"
#include "base/file_io.h"
#include "client/process/interrupt.h"

#define N_BUFFERS 3
#define BUFFER_BYTES ((size_t)1 << 20)
/* The number of bytes that are written directly: a small file is not worth a thread. */
#define MIN_BYTES ((uint64_t)4 << 20)

struct write_behind {
	int fd;
	uint64_t n_bytes; /* the number of bytes accepted so far */
	bool has_thread;
	pthread_t thread;
	uint8_t *buffers; /* N_BUFFERS buffers; NULL: none */
	size_t used_bytes; /* of the buffer that is being filled, which follows the full buffers */
	size_t full_bytes[N_BUFFERS];
	pthread_mutex_t mutex;
	pthread_cond_t has_full;
	pthread_cond_t has_room;
	/* The index of the oldest full buffer; |mutex| guards it and the three members below. */
	unsigned first;
	unsigned n_full;
	bool is_ending; /* the thread ends when no buffer is full any more */
	int error; /* a negative errno */
};

/* --- the thread ---------------------------------------------------------------------------- */

/* Waits for a full buffer and returns its index; -1 at the end. */
static int wait_for_full(struct write_behind *w)
{
	int at;

	pthread_mutex_lock(&w->mutex);
	while (!w->n_full && !w->is_ending)
		pthread_cond_wait(&w->has_full, &w->mutex);
	at = w->n_full ? (int)w->first : -1;
	pthread_mutex_unlock(&w->mutex);
	return at;
}

static void *write_full_buffers(void *context)
{
	struct write_behind *w = context;
	int at;

	while ((at = wait_for_full(w)) >= 0) {
		/*
		 * After an error the file has a gap, so the rest is dropped. Only this thread sets
		 * the error.
		 */
		int r = w->error ? 0
				 : file_write(w->fd, w->buffers + (size_t)at * BUFFER_BYTES,
					   w->full_bytes[at]);

		pthread_mutex_lock(&w->mutex);
		w->first = (w->first + 1) % N_BUFFERS;
		w->n_full--;
		if (r)
			w->error = r;
		pthread_cond_signal(&w->has_room);
		pthread_mutex_unlock(&w->mutex);
	}
	return NULL;
}

/* --- life ---------------------------------------------------------------------------------- */

struct write_behind *write_behind_new(int fd)
{
	struct write_behind *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->fd = fd;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->has_full, NULL);
	pthread_cond_init(&w->has_room, NULL);
	return w;
}

struct write_behind *write_behind_free(struct write_behind *w)
{
	if (!w)
		return NULL;
	write_behind_finish(w);
	free(w->buffers);
	pthread_cond_destroy(&w->has_room);
	pthread_cond_destroy(&w->has_full);
	pthread_mutex_destroy(&w->mutex);
	free(w);
	return NULL;
}

/*
 * The thread blocks all signals, because other threads wait for them. If the thread cannot start,
 * the caller's thread writes.
 */
static void start_thread(struct write_behind *w)
{
	sigset_t before;
	sigset_t all;

	w->buffers = cpus_count(0) > 1 ? malloc(N_BUFFERS * BUFFER_BYTES) : NULL;
	if (!w->buffers)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	w->has_thread = pthread_create(&w->thread, NULL, write_full_buffers, w) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- the caller's side --------------------------------------------------------------------- */

/* Gives the filled buffer to the thread, and waits for a free one. */
static int hand_over(struct write_behind *w)
{
	int error;

	pthread_mutex_lock(&w->mutex);
	w->full_bytes[(w->first + w->n_full) % N_BUFFERS] = w->used_bytes;
	w->n_full++;
	w->used_bytes = 0;
	pthread_cond_signal(&w->has_full);
	while (w->n_full == N_BUFFERS)
		pthread_cond_wait(&w->has_room, &w->mutex);
	error = w->error;
	pthread_mutex_unlock(&w->mutex);
	return error;
}

static uint8_t *get_buffer(struct write_behind *w)
{
	unsigned at;

	pthread_mutex_lock(&w->mutex);
	at = (w->first + w->n_full) % N_BUFFERS;
	pthread_mutex_unlock(&w->mutex);
	return w->buffers + at * BUFFER_BYTES;
}

static int copy_into_buffers(struct write_behind *w, const uint8_t *data, size_t n)
{
	while (n) {
		size_t room = BUFFER_BYTES - w->used_bytes;
		size_t part = n < room ? n : room;
		int r;

		memcpy(get_buffer(w) + w->used_bytes, data, part);
		w->used_bytes += part;
		data += part;
		n -= part;
		r = w->used_bytes == BUFFER_BYTES ? hand_over(w) : 0;
		if (r)
			return r;
	}
	return 0;
}

int write_behind_write(struct write_behind *w, const uint8_t *data, size_t n)
{
	bool had_enough = w->n_bytes >= MIN_BYTES;

	w->n_bytes += n;
	if (!had_enough && w->n_bytes >= MIN_BYTES)
		start_thread(w);
	if (w->has_thread)
		return copy_into_buffers(w, data, n);
	if (!w->error)
		w->error = file_write(w->fd, data, n);
	return w->error;
}

int write_behind_finish(struct write_behind *w)
{
	if (!w->has_thread)
		return w->error;
	if (w->used_bytes)
		hand_over(w);
	pthread_mutex_lock(&w->mutex);
	w->is_ending = true;
	pthread_cond_signal(&w->has_full);
	pthread_mutex_unlock(&w->mutex);
	pthread_join(w->thread, NULL);
	w->has_thread = false;
	return w->error;
}

/* --- windows of a file ------------------------------------------------------------------------ */

/* The most bytes of the file that stay in memory; a multiple of every page size. */
#define WINDOW_BYTES ((size_t)4 << 20)

int file_window_advance(const uint8_t *p, void *context)
{
	struct file_window *w = context;
	size_t n;

	if (p < w->from) {
		n = (size_t)(p - w->map);
		w->from = w->map + (n - n % WINDOW_BYTES);
	}
	n = (size_t)(p - w->from);
	if (n < WINDOW_BYTES)
		return 0;
	n -= n % WINDOW_BYTES;
	madvise(w->from, n, MADV_DONTNEED);
	w->from += n;
	return interrupt_get_count() >= 2 ? -EINTR : 0;
}
