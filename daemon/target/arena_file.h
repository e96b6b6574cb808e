/* SPDX-License-Identifier: Apache-2.0 */
/* The file of an arena, before it is mapped. */
#ifndef DAEMON_ARENA_FILE_H
#define DAEMON_ARENA_FILE_H

#include <stdint.h>

/*
 * Returns the size of |fd| if it can be mapped safely: it cannot shrink any more (SIGBUS), has no
 * huge pages, which may be unavailable (SIGBUS, too), and has room for the smallest arena. 0: it is
 * no such file.
 */
uint64_t arena_file_find_size(int fd);

#endif
