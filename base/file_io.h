/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes files to the last byte, even if the kernel takes less at a time. Each function
 * returns 0 or a negative errno.
 */
#ifndef BASE_FILE_IO_H
#define BASE_FILE_IO_H

#include <stddef.h>
#include <stdint.h>

int file_write(int fd, const void *data, size_t n);
int file_write_at(int fd, const void *data, size_t n, uint64_t offset);
int file_read_at(int fd, void *to, size_t n, uint64_t offset); /* -EIO: the file is shorter */

/*
 * Moves the bytes between the offsets |from| and |end| up by |n| bytes, so that they end at |end| +
 * |n|; what was there is overwritten. It may also return -ENOMEM.
 */
int file_move_up(int fd, uint64_t from, uint64_t end, size_t n);

#endif
