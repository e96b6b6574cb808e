/* SPDX-License-Identifier: Apache-2.0 */
/* The file behind an arena, before it is mapped. */
#ifndef DAEMON_ARENA_FILE_H
#define DAEMON_ARENA_FILE_H

#include <stdint.h>

/*
 * How many bytes |fd| has, when they can be mapped without fear: it cannot shrink any more (SIGBUS), nor be of huge pages, which
 * may not be had (the same), and has room for the smallest arena. 0: it is no such file.
 */
uint64_t arena_file_find_size(int fd);

#endif
