/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks that are read once, from front to back; each is freed when it was read. */
#ifndef BASE_CHUNK_READER_H
#define BASE_CHUNK_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/chunks.h"

struct chunk_reader {
	struct chunks
		chunks; /* total_bytes: what is left of them, but for what was read of the one at hand */
	size_t chunk; /* that is being read */
	size_t at; /* in it */
	uint64_t n_read; /* of all */
};

/* Takes what is in |chunks|. All zero is a reader of nothing. */
void chunk_reader_init(struct chunk_reader *r, struct chunks *chunks);
void chunk_reader_deinit(struct chunk_reader *r);

/* Copies the next bytes, as many as |n| if there are. Returns how many. */
size_t chunk_reader_read(struct chunk_reader *r, uint8_t *to, size_t n);
int chunk_reader_is_at_end(const struct chunk_reader *r);

/* Moves what was not read yet behind |to|, which keeps the error. */
void chunk_reader_take_rest(struct chunk_reader *r, struct chunks *to);

#endif
