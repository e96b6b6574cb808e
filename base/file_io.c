/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes whole files; see file_io.h. */
#include "base/file_io.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MOVE_BYTES ((size_t)1 << 20)

/*
 * |done| is the result of a call for |n| bytes. Returns a negative errno if the rest cannot be read
 * or written, else 0.
 */
static int file_advance(ssize_t done, size_t *n, uint64_t *offset)
{
	if (done < 0)
		return errno == EINTR ? 0 : -errno;
	if (done == 0)
		return -EIO;
	*n -= (size_t)done;
	*offset += (uint64_t)done;
	return 0;
}

int file_write(int fd, const void *data, size_t n)
{
	uint64_t at = 0;
	int r = 0;

	while (n && !r)
		r = file_advance(write(fd, (const uint8_t *)data + at, n), &n, &at);
	return r;
}

int file_write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	const uint8_t *p = data;
	uint64_t at = offset;
	int r = 0;

	while (n && !r)
		r = file_advance(pwrite(fd, p + (at - offset), n, (off_t)at), &n, &at);
	return r;
}

int file_read_at(int fd, void *to, size_t n, uint64_t offset)
{
	uint8_t *p = to;
	uint64_t at = offset;
	int r = 0;

	while (n && !r)
		r = file_advance(pread(fd, p + (at - offset), n, (off_t)at), &n, &at);
	return r;
}

int file_move_up(int fd, uint64_t from, uint64_t end, size_t n)
{
	_cleanup_free_ uint8_t *piece = malloc(MOVE_BYTES);
	int r = piece ? 0 : -ENOMEM;

	/* Copy from the end, so that bytes are moved before they are overwritten. */
	while (end > from && !r) {
		size_t n_piece = end - from < MOVE_BYTES ? (size_t)(end - from) : MOVE_BYTES;

		end -= n_piece;
		r = file_read_at(fd, piece, n_piece, end);
		if (!r)
			r = file_write_at(fd, piece, n_piece, end + n);
	}
	return r;
}
