/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers without locks; see pool.h. Free buffers are a stack, whose head carries a count of its
 * changes: a thread that was interrupted between reading the head and replacing it finds another
 * count, even if the same buffer is first again. Filled buffers are a stack that is only taken
 * whole, so it needs no count.
 */
#include "lib/plugins/cuda/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Free buffers that a trim leaves to other threads, at the bottom of the stack: few captures take
 * them, so they hold little memory.
 */
#define N_KEPT 8u

static uint32_t get_head_number(uint64_t head)
{
	return (uint32_t)head;
}

static uint64_t make_next_head(uint64_t head, uint32_t number)
{
	return ((head >> 32) + 1) << 32 | number;
}

static void *reserve_memory(size_t n)
{
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/*
 * A huge page would be allocated whole for the first byte of a buffer; and a core dump should not
 * contain the buffers.
 */
static void advise_memory(void *at, size_t n)
{
	madvise(at, n, MADV_NOHUGEPAGE);
	madvise(at, n, MADV_DONTDUMP);
}

void pool_reset(struct pool *p)
{
	if (p->n_buffers)
		madvise(p->memory, p->n_buffers * p->buffer_bytes, MADV_DONTNEED);
	for (uint32_t i = 0; i < p->n_buffers; i++) {
		atomic_store_explicit(&p->entries[i].next, i + 1 < p->n_buffers ? i + 1 : POOL_NONE,
			memory_order_relaxed);
		atomic_store_explicit(&p->entries[i].is_taken, 0, memory_order_relaxed);
	}
	atomic_store(&p->free, p->n_buffers ? 0 : POOL_NONE);
	atomic_store(&p->filled, POOL_NONE);
	atomic_store(&p->n_used, 0);
}

int pool_init(struct pool *p, uint32_t n, size_t buffer_bytes)
{
	memset(p, 0, sizeof *p);
	while (n && !(p->memory = reserve_memory(n * buffer_bytes)))
		n /= 2;
	if (!n)
		return -ENOMEM;
	p->entries = reserve_memory(n * sizeof *p->entries);
	if (!p->entries) {
		munmap(p->memory, n * buffer_bytes);
		memset(p, 0, sizeof *p);
		return -ENOMEM;
	}
	advise_memory(p->memory, n * buffer_bytes);
	p->buffer_bytes = buffer_bytes;
	p->n_buffers = n;
	pool_reset(p);
	return 0;
}

static void push_free(struct pool *p, uint32_t number)
{
	uint64_t head = atomic_load_explicit(&p->free, memory_order_relaxed);

	do
		atomic_store_explicit(
			&p->entries[number].next, get_head_number(head), memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&p->free, &head, make_next_head(head, number),
		memory_order_release, memory_order_relaxed));
}

static uint32_t pop_free(struct pool *p)
{
	uint64_t head = atomic_load_explicit(&p->free, memory_order_acquire);
	uint32_t next;

	do {
		if (get_head_number(head) == POOL_NONE)
			return POOL_NONE;
		/*
		 * Another thread may have taken the buffer by now; then the head has changed, and
		 * |next| is not used.
		 */
		next = atomic_load_explicit(
			&p->entries[get_head_number(head)].next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&p->free, &head, make_next_head(head, next),
		memory_order_acquire, memory_order_acquire));
	return get_head_number(head);
}

static void count_used_buffer(struct pool *p)
{
	uint32_t n = atomic_fetch_add_explicit(&p->n_used, 1, memory_order_relaxed) + 1;
	uint32_t most = atomic_load_explicit(&p->most_used, memory_order_relaxed);

	while (n > most && !atomic_compare_exchange_weak_explicit(&p->most_used, &most, n,
				   memory_order_relaxed, memory_order_relaxed))
		;
}

uint8_t *pool_take(struct pool *p)
{
	uint32_t number = p->n_buffers ? pop_free(p) : POOL_NONE;

	if (number == POOL_NONE)
		return NULL;
	count_used_buffer(p);
	atomic_store_explicit(&p->entries[number].is_taken, 1, memory_order_relaxed);
	return p->memory + number * p->buffer_bytes;
}

static uint32_t find_buffer_number(const struct pool *p, const uint8_t *buffer)
{
	uintptr_t offset = (uintptr_t)buffer - (uintptr_t)p->memory;

	if (!p->n_buffers || offset >= p->n_buffers * p->buffer_bytes || offset % p->buffer_bytes)
		return POOL_NONE;
	return (uint32_t)(offset / p->buffer_bytes);
}

bool pool_owns(const struct pool *p, const uint8_t *buffer)
{
	uint32_t number = find_buffer_number(p, buffer);

	return number != POOL_NONE && atomic_load(&p->entries[number].is_taken);
}

/* Returns the number of a buffer that was taken, and marks it as no longer taken. */
static uint32_t end_taking(struct pool *p, const uint8_t *buffer)
{
	uint32_t number = find_buffer_number(p, buffer);
	uint32_t expected = 1;

	if (number == POOL_NONE ||
		!atomic_compare_exchange_strong(&p->entries[number].is_taken, &expected, 0))
		return POOL_NONE;
	return number;
}

int pool_put_filled(struct pool *p, uint8_t *buffer, size_t n_bytes)
{
	uint32_t number = end_taking(p, buffer);
	uint32_t last = atomic_load_explicit(&p->filled, memory_order_relaxed);

	if (number == POOL_NONE)
		return -EINVAL;
	p->entries[number].n_bytes = n_bytes < p->buffer_bytes ? n_bytes : p->buffer_bytes;
	do
		atomic_store_explicit(&p->entries[number].next, last, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(
		&p->filled, &last, number, memory_order_release, memory_order_relaxed));
	return 0;
}

static void give_pages_back(struct pool *p, uint32_t number)
{
	madvise(p->memory + number * p->buffer_bytes, p->buffer_bytes, MADV_DONTNEED);
}

/*
 * Zeroes the buffer in place if most of its pages exist, so that its next writer need not fault
 * them in again.
 */
static void clear_buffer(struct pool *p, uint32_t number)
{
	if (p->entries[number].n_bytes > p->buffer_bytes / 2)
		memset(p->memory + number * p->buffer_bytes, 0, p->buffer_bytes);
	else
		give_pages_back(p, number);
}

void pool_recycle(struct pool *p, uint32_t number)
{
	clear_buffer(p, number);
	atomic_fetch_sub_explicit(&p->n_used, 1, memory_order_relaxed);
	push_free(p, number);
}

int pool_put_back(struct pool *p, uint8_t *buffer)
{
	uint32_t number = end_taking(p, buffer);

	if (number == POOL_NONE)
		return -EINVAL;
	p->entries[number].n_bytes = 0;
	pool_recycle(p, number);
	return 0;
}

uint32_t pool_take_filled(struct pool *p)
{
	uint32_t number = atomic_exchange_explicit(&p->filled, POOL_NONE, memory_order_acquire);
	uint32_t newer = POOL_NONE;

	/* The newest buffer is first, so the list is reversed. */
	while (number != POOL_NONE) {
		uint32_t older =
			atomic_load_explicit(&p->entries[number].next, memory_order_relaxed);

		atomic_store_explicit(&p->entries[number].next, newer, memory_order_relaxed);
		newer = number;
		number = older;
	}
	return newer;
}

uint32_t pool_next(const struct pool *p, uint32_t number)
{
	return atomic_load_explicit(&p->entries[number].next, memory_order_relaxed);
}

struct pool_filled pool_get(const struct pool *p, uint32_t number)
{
	return (struct pool_filled){
		p->memory + number * p->buffer_bytes, p->entries[number].n_bytes};
}

static uint32_t count_free_buffers(struct pool *p)
{
	return p->n_buffers - atomic_load_explicit(&p->n_used, memory_order_relaxed);
}

void pool_trim(struct pool *p)
{
	uint32_t first = POOL_NONE;
	uint32_t number;

	for (uint32_t n = count_free_buffers(p); n > N_KEPT && (number = pop_free(p)) != POOL_NONE;
		n--) {
		give_pages_back(p, number);
		atomic_store_explicit(&p->entries[number].next, first, memory_order_relaxed);
		first = number;
	}
	while (first != POOL_NONE) {
		number = first;
		first = pool_next(p, number);
		push_free(p, number);
	}
}
