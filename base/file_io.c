/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files; see file_io.h. */
#include "base/file_io.h"

#include <errno.h>
#include <unistd.h>

/* |done|: what a call came to that was to do |n| bytes. 0, or why there will be no more. */
static int advance(ssize_t done, size_t *n, uint64_t *offset)
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
		r = advance(write(fd, (const uint8_t *)data + at, n), &n, &at);
	return r;
}

int file_write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	const uint8_t *p = data;
	uint64_t at = offset;
	int r = 0;

	while (n && !r)
		r = advance(pwrite(fd, p + (at - offset), n, (off_t)at), &n, &at);
	return r;
}

int file_read_at(int fd, void *to, size_t n, uint64_t offset)
{
	uint8_t *p = to;
	uint64_t at = offset;
	int r = 0;

	while (n && !r)
		r = advance(pread(fd, p + (at - offset), n, (off_t)at), &n, &at);
	return r;
}
