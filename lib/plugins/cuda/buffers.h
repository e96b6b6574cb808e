/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI fills with records. They are handed out on the program's threads, inside
 * its CUDA calls, and come back on any thread of CUPTI's. Both happen without a lock and at any
 * time, even when no capture runs. They are never freed, because CUPTI may keep one for any time.
 *
 * When no buffer is left, a request is refused, and CUPTI counts the records that it drops. CUPTI
 * before CUDA 12.9 crashes when it is refused. Such a version gets additional small buffers, and
 * after these always the same last buffer, whose content is lost.
 */
#ifndef PLUGINS_CUDA_BUFFERS_H
#define PLUGINS_CUDA_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFERS_BYTES (1u << 20)

struct buffers_counts {
	uint64_t most_bytes; /* the most bytes in use at the same time */
	uint64_t lost_bytes; /* bytes of records in the shared last buffer */
};

/*
 * Makes the buffers, or further ones if this capture may use more than exist. 0, or -ENOMEM if
 * there is not even one.
 */
int buffers_open(uint32_t megabytes, bool may_refuse);

/* From here on filled buffers are kept until they are read; earlier ones are discarded. */
void buffers_begin(void);
void buffers_end(void);

/*
 * Calls |read| with each filled buffer, pool by pool, in each pool the oldest first. A result other
 * than 0 ends this and is returned; the other buffers of that pool are discarded.
 */
int buffers_read(int (*read)(void *context, uint8_t *buffer, size_t n_bytes), void *context);

/* The counts since buffers_begin(). */
void buffers_get_counts(struct buffers_counts *out);

/* For cuptiActivityRegisterCallbacks(). */
void buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffers_complete(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* Called in a forked child. */
void buffers_reset(void);

#endif
