/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that CUPTI fills; see buffers.h. */
#include "lib/plugins/cuda/buffers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/plugins/cuda/pool.h"

/*
 * A capture that may use more memory than those before makes another pool; this is the limit on
 * pools.
 */
#define MAX_POOLS 8u
/* Small buffers, for versions of CUPTI that crash when a request is refused. */
#define SMALL_BYTES (16u << 10)
#define N_SMALL 1024u

static struct {
	struct pool large[MAX_POOLS];
	_Atomic uint32_t n_large;
	struct pool small;
	_Atomic uint32_t has_small;
	/* written by several threads at a time, never read */
	_Alignas(8) uint8_t last[SMALL_BYTES];
	_Atomic uint32_t limit; /* the number of large buffers that may be in use */
	_Atomic int may_refuse;
	_Atomic int is_wanted; /* a capture wants filled buffers */
	_Atomic uint64_t lost_bytes;
} buffers;

static int for_each_pool(int (*act)(struct pool *p, void *context), void *context)
{
	uint32_t n = atomic_load_explicit(&buffers.n_large, memory_order_acquire);
	int r = 0;

	for (uint32_t i = 0; i < n && !r; i++)
		r = act(&buffers.large[i], context);
	if (!r && atomic_load_explicit(&buffers.has_small, memory_order_acquire))
		r = act(&buffers.small, context);
	return r;
}

static uint32_t count_large(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < atomic_load(&buffers.n_large); i++)
		n += buffers.large[i].n_buffers;
	return n;
}

/* Fewer buffers than requested are enough, if there is at least one. */
static int open_large(uint32_t megabytes)
{
	uint32_t n_pools = atomic_load(&buffers.n_large);
	uint32_t n = count_large();

	if (n >= megabytes || n_pools == MAX_POOLS)
		return 0;
	if (pool_init(&buffers.large[n_pools], megabytes - n, BUFFERS_BYTES))
		return n ? 0 : -ENOMEM;
	atomic_store_explicit(&buffers.n_large, n_pools + 1, memory_order_release);
	return 0;
}

static int open_small(void)
{
	int r = atomic_load(&buffers.has_small) ? 0
						: pool_init(&buffers.small, N_SMALL, SMALL_BYTES);

	if (!r)
		atomic_store_explicit(&buffers.has_small, 1, memory_order_release);
	return r;
}

int buffers_open(uint32_t megabytes, bool may_refuse)
{
	int r = open_large(megabytes);

	if (!r && !may_refuse)
		r = open_small();
	atomic_store(&buffers.limit, megabytes);
	atomic_store(&buffers.may_refuse, may_refuse);
	return r;
}

static int discard_filled(struct pool *p, void *context)
{
	uint32_t number = pool_take_filled(p);

	(void)context;
	while (number != POOL_NONE) {
		uint32_t next = pool_next(p, number);

		pool_recycle(p, number);
		number = next;
	}
	return 0;
}

static int reset_most_used(struct pool *p, void *context)
{
	(void)context;
	atomic_store(&p->most_used, atomic_load(&p->n_used));
	return 0;
}

void buffers_begin(void)
{
	for_each_pool(discard_filled, NULL);
	for_each_pool(reset_most_used, NULL);
	atomic_store(&buffers.lost_bytes, 0);
	atomic_store(&buffers.is_wanted, 1);
}

static int trim_pool(struct pool *p, void *context)
{
	(void)context;
	pool_trim(p);
	return 0;
}

void buffers_end(void)
{
	atomic_store(&buffers.is_wanted, 0);
	for_each_pool(discard_filled, NULL);
	for_each_pool(trim_pool, NULL);
}

struct buffer_reader {
	int (*read)(void *context, uint8_t *buffer, size_t n_bytes);
	void *context;
};

static int read_pool(struct pool *p, void *context)
{
	const struct buffer_reader *reader = context;
	uint32_t number = pool_take_filled(p);
	int r = 0;

	while (number != POOL_NONE) {
		uint32_t next = pool_next(p, number);
		struct pool_filled filled = pool_get(p, number);

		if (!r && filled.n_bytes)
			r = reader->read(reader->context, filled.buffer, filled.n_bytes);
		pool_recycle(p, number);
		number = next;
	}
	return r;
}

int buffers_read(int (*read)(void *context, uint8_t *buffer, size_t n_bytes), void *context)
{
	struct buffer_reader reader = {read, context};

	return for_each_pool(read_pool, &reader);
}

static int add_pool_bytes(struct pool *p, void *context)
{
	uint64_t *bytes = context;

	*bytes += (uint64_t)atomic_load(&p->most_used) * p->buffer_bytes;
	return 0;
}

void buffers_get_counts(struct buffers_counts *out)
{
	*out = (struct buffers_counts){
		.lost_bytes = atomic_load(&buffers.lost_bytes),
	};
	for_each_pool(add_pool_bytes, &out->most_bytes);
}

static uint8_t *take_large_buffer(void)
{
	uint32_t n = atomic_load_explicit(&buffers.n_large, memory_order_acquire);
	uint32_t n_used = 0;
	uint8_t *buffer = NULL;

	for (uint32_t i = 0; i < n; i++)
		n_used += atomic_load_explicit(&buffers.large[i].n_used, memory_order_relaxed);
	if (n_used >= atomic_load_explicit(&buffers.limit, memory_order_relaxed))
		return NULL;
	for (uint32_t i = 0; i < n && !buffer; i++)
		buffer = pool_take(&buffers.large[i]);
	return buffer;
}

void buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*max_records = 0;
	*bytes = BUFFERS_BYTES;
	*buffer = take_large_buffer();
	if (*buffer)
		return;
	*bytes = 0;
	if (atomic_load_explicit(&buffers.may_refuse, memory_order_relaxed))
		return;
	*bytes = SMALL_BYTES;
	if (atomic_load_explicit(&buffers.has_small, memory_order_acquire))
		*buffer = pool_take(&buffers.small);
	if (!*buffer)
		*buffer = buffers.last;
}

struct filled_buffer {
	uint8_t *buffer;
	size_t n_bytes;
};

/* Returns 1 if the buffer belongs to this pool. */
static int put_buffer(struct pool *p, void *context)
{
	const struct filled_buffer *f = context;

	if (!pool_owns(p, f->buffer))
		return 0;
	if (atomic_load(&buffers.is_wanted))
		pool_put_filled(p, f->buffer, f->n_bytes);
	else
		pool_put_back(p, f->buffer);
	return 1;
}

void buffers_complete(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	struct filled_buffer filled = {buffer, valid_bytes};

	(void)context;
	(void)stream;
	(void)bytes;
	if (!for_each_pool(put_buffer, &filled) && buffer == buffers.last)
		atomic_fetch_add_explicit(&buffers.lost_bytes, valid_bytes, memory_order_relaxed);
}

static int reset_pool(struct pool *p, void *context)
{
	(void)context;
	pool_reset(p);
	return 0;
}

void buffers_reset(void)
{
	atomic_store(&buffers.is_wanted, 0);
	for_each_pool(reset_pool, NULL);
}
