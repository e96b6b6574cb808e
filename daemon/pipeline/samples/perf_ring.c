/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of perf events; see perf_ring.h and perf_event_open(2). */
#include "daemon/pipeline/samples/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring_map(struct perf_ring *ring, int fd, size_t n_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	/* Without PROT_WRITE the kernel would overwrite records that were not read. */
	uint8_t *p = mmap(NULL, page_bytes + n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	perf_ring_init(ring, (struct perf_event_mmap_page *)p, p + page_bytes, n_bytes);
	ring->map_bytes = page_bytes + n_bytes;
	return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->map_bytes)
		munmap(ring->control, ring->map_bytes);
	memset(ring, 0, sizeof *ring);
}

void perf_ring_init(
	struct perf_ring *ring, struct perf_event_mmap_page *control, uint8_t *data, size_t n_bytes)
{
	*ring = (struct perf_ring){
		.control = control,
		.data = data,
		.n_bytes = n_bytes,
		.tail = control->data_tail,
	};
}

/* Pairs with the kernel's barrier between writing records and moving the head. */
static uint64_t ring_read_head(const struct perf_ring *ring)
{
	return __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

/* All reads of the records before |tail| are over when the kernel sees it. */
static void ring_move_tail(struct perf_ring *ring, uint64_t tail)
{
	ring->tail = tail;
	__atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
}

/* Returns |n| bytes from the tail on: those in the ring, or a copy if they are in two pieces. */
static const uint8_t *ring_get_record(
	const struct perf_ring *ring, size_t n, struct perf_scratch *scratch)
{
	size_t at = (size_t)ring->tail & (ring->n_bytes - 1);
	size_t n_first = ring->n_bytes - at;

	if (n <= n_first)
		return ring->data + at;
	memcpy(scratch->bytes, ring->data + at, n_first);
	memcpy(scratch->bytes + n_first, ring->data, n - n_first);
	return scratch->bytes;
}

/* Returns the size of the record at the tail; 0: |n_left| bytes are not enough for it. */
static size_t ring_read_size(const struct perf_ring *ring, uint64_t n_left)
{
	struct perf_event_header header;

	if (n_left < sizeof header)
		return 0;
	memcpy(&header, ring->data + (ring->tail & (ring->n_bytes - 1)), sizeof header);
	if (header.size < sizeof header || header.size % 8 || header.size > n_left)
		return 0;
	return header.size;
}

int perf_ring_drain(struct perf_ring *ring, struct perf_scratch *scratch,
	void (*take)(void *context, const void *record, size_t n_bytes), void *context)
{
	uint64_t head = ring_read_head(ring);

	ring->found_bytes = 0;
	if (head - ring->tail > ring->n_bytes || ring->tail % 8) {
		ring_move_tail(ring, head);
		return PERF_RING_BROKEN;
	}
	ring->found_bytes = (size_t)(head - ring->tail);
	while (ring->tail != head) {
		size_t n = ring_read_size(ring, head - ring->tail);

		if (!n) {
			ring_move_tail(ring, head);
			return PERF_RING_BROKEN;
		}
		take(context, ring_get_record(ring, n, scratch), n);
		ring_move_tail(ring, ring->tail + n);
	}
	return 0;
}
