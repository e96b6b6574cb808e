/* SPDX-License-Identifier: Apache-2.0 */
/* A large file on its way to the disk while its data is still used. */
#ifndef CLIENT_WRITE_BACK_H
#define CLIENT_WRITE_BACK_H

#include <stdint.h>

/*
 * Has the kernel begin to write the |n_bytes| of the file, and returns at once; so fsync() has less to wait for. Where that is
 * not possible, or not worth it, nothing happens. Errors of writing are fsync()'s to tell.
 */
void write_back_begin(int fd, uint64_t n_bytes);

#endif
