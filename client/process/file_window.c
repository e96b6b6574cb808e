/* SPDX-License-Identifier: Apache-2.0 */
/* Giving back pages; see file_window.h. */
#include "client/process/file_window.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "client/process/interrupt.h"

/* The part of the file that stays in memory, at most; a multiple of every page size. */
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
