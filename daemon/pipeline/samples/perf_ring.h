/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of memory into which the kernel writes the records of perf events. Its first page, the
 * control page, has the position up to which the kernel has written (data_head), and that up to
 * which we have read (data_tail). Both only grow. When the ring is full, the kernel drops records
 * and counts them.
 *
 * Threads: one at a time for each ring.
 */
#ifndef DAEMON_PERF_RING_H
#define DAEMON_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* More than the largest record has: its size is a number of 16 bits. */
#define PERF_RECORD_MAX_BYTES 65536

/* All zero is a ring that is not mapped. */
struct perf_ring {
	struct perf_event_mmap_page *control;
	uint8_t *data;
	size_t n_bytes; /* of the data: a power of two, and at least a page */
	size_t map_bytes; /* 0: the memory is the caller's */
	uint64_t tail; /* as in the control page; the copy is out of anyone's reach */
	size_t found_bytes; /* in the ring when the last drain began */
};

/* A place for records that begin at the end of a ring and go on at its beginning. */
struct perf_scratch {
	_Alignas(8) uint8_t bytes[PERF_RECORD_MAX_BYTES];
};

/*
 * Maps the ring of the event |fd|, with room for |n_bytes| of records, a power of two. 0, or a
 * negative errno: -EPERM if the memory is more than the user may lock, -ENOMEM.
 * Owner: perf_ring_unmap().
 */
int perf_ring_map(struct perf_ring *ring, int fd, size_t n_bytes);
void perf_ring_unmap(struct perf_ring *ring);

/* Makes a ring of memory that the caller keeps. A test writes the records instead of the kernel. */
void perf_ring_init(struct perf_ring *ring, struct perf_event_mmap_page *control, uint8_t *data,
	size_t n_bytes);

/* An outcome of perf_ring_drain(). */
#define PERF_RING_BROKEN 1

/*
 * Calls |take| with each record that is in the ring now, in order, and gives its room back to the
 * kernel after the call. A record begins at a multiple of eight bytes and is valid during the call.
 * Returns 0; PERF_RING_BROKEN: positions or sizes contradict each other, and the rest was skipped.
 */
int perf_ring_drain(struct perf_ring *ring, struct perf_scratch *scratch,
	void (*take)(void *context, const void *record, size_t n_bytes), void *context);

#endif
