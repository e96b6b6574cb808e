/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing of files to the last byte, whatever the kernel takes at a time. Each: 0 or a negative errno. */
#ifndef BASE_FILE_IO_H
#define BASE_FILE_IO_H

#include <stddef.h>
#include <stdint.h>

int file_write(int fd, const void *data, size_t n);
int file_write_at(int fd, const void *data, size_t n, uint64_t offset);
int file_read_at(int fd, void *to, size_t n, uint64_t offset); /* -EIO: it ends before */

/* Moves what lies from |from| to |end| by |n| bytes towards the end; what lay there is overwritten. Or -ENOMEM. */
int file_move_up(int fd, uint64_t from, uint64_t end, size_t n);

#endif
