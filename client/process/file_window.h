/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives back the pages of a mapped file as it is read, because they count as memory of this process
 * until then.
 */
#ifndef CLIENT_FILE_WINDOW_H
#define CLIENT_FILE_WINDOW_H

#include <stdint.h>

struct file_window {
	uint8_t *map; /* the mapping of the file; it is only read */
	uint8_t *from; /* the pages before it have been given back; |map| at first */
};

/*
 * Gives back the pages before |p|; they may be read again. |context| is a struct file_window, as
 * outline_read() and split.h pass it. 0, or -EINTR when the user gave up.
 */
int file_window_advance(const uint8_t *p, void *context);

#endif
