/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI fills with records: handed out on the program's threads, inside its CUDA calls, and taken back on whatever
 * thread CUPTI likes. Both without a lock, and both at any time: CUPTI asks for buffers and brings them back when no capture runs any
 * more, too. They are CUPTI's as long as the process lives.
 *
 * When none is left a request is refused, and CUPTI counts the records that it drops. Before CUDA 12.9 it crashes instead; there it
 * is given small buffers besides, and when they are all out, too, always the same one, whose content is lost.
 */
#ifndef PLUGINS_CUDA_BUFFERS_H
#define PLUGINS_CUDA_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define BUFFERS_BYTES (1u << 20)

struct buffers_counts {
	uint64_t most_bytes; /* that were in use at the same time */
	uint64_t lost_bytes; /* of records that were in no buffer of their own */
};

/* Makes them, or as many more as this capture may use. 0, or -ENOMEM: there is not one. */
int buffers_open(uint32_t megabytes, int may_refuse);

/* From here on what is filled is kept until it is taken; what was before is thrown away. */
void buffers_begin(void);
void buffers_end(void);

/* Takes what was filled, and calls |read| with each, oldest first; a number other than 0 ends it, and is returned: the rest is thrown away. */
int buffers_read(int (*read)(void *context, uint8_t *buffer, size_t n_bytes), void *context);

/* Since buffers_begin(). */
void buffers_get_counts(struct buffers_counts *out);

/* For cuptiActivityRegisterCallbacks(). */
void buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffers_complete(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* In a forked child. */
void buffers_reset(void);

#endif
