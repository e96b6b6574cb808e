/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a large file through a mapping: the pages that were read count as memory of this process until they are let go. */
#ifndef CLIENT_LET_GO_H
#define CLIENT_LET_GO_H

#include <stdint.h>

struct let_go {
	uint8_t *map; /* of a file, only read */
	uint8_t *from; /* what is before it has been let go; |map| at first */
};

/*
 * What is before |p| was read; it may be read again. Fits outline_read() and split.h, with a struct let_go as the context. 0,
 * or -EINTR when the user gave up.
 */
int let_go(const uint8_t *p, void *context);

#endif
