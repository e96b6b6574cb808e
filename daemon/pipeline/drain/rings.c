/* SPDX-License-Identifier: Apache-2.0 */
/* The rings' memory; see rings.h. */
#include "daemon/pipeline/drain/rings.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "daemon/pipeline/drain/ended_threads.h"
#include "daemon/pipeline/drain/trigger_watch.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"

/*
 * Rings from this index on, and behind the last one in use, are mapped at a thread's first span.
 */
#define MAX_SPARE_RINGS 16
/* The number of free rings that keep their memory during a recording. */
#define MAX_WARM_RINGS 4

bool rings_is_used(const struct target *t, uint32_t i)
{
	return atomic_load_explicit(&t->arena->ring_state[i], memory_order_acquire) == RING_USED;
}

bool rings_is_recorded(const struct target *t, uint32_t i)
{
	return rings_is_used(t, i) && ring_is_same_recording(atomic_load(&target_ring(t, i)->word),
					      atomic_load(&t->arena->word));
}

void rings_skip_to(struct target *t, uint32_t i, uint64_t position)
{
	t->tail[i] = position;
	atomic_store_explicit(&target_ring(t, i)->tail, position, memory_order_release);
}

void rings_skip(struct target *t, uint32_t i)
{
	rings_skip_to(t, i, atomic_load_explicit(&target_ring(t, i)->head, memory_order_acquire));
}

/* Lets the triggers and the flight recorder read the ring's records, then clears it. */
static void ring_clear(struct target *t, uint32_t i)
{
	struct ring *ring = target_ring(t, i);

	if (t->watch)
		trigger_watch_visit(t, i);
	if (t->ended)
		ended_threads_take(t->ended, i);
	rings_skip(t, i);
	if (atomic_load(&ring->head) != atomic_load(&ring->first))
		atomic_store(&t->freed_ticks, exit_note_find_thread(t));
	atomic_store_explicit(&ring->word, 0, memory_order_relaxed);
	/*
	 * The next thread may sleep between claiming the ring and writing its tid, and must not be
	 * mistaken for the ended one.
	 */
	atomic_store_explicit(&ring->tid, 0, memory_order_relaxed);
}

static void ring_offer(struct target *t, uint32_t i)
{
	atomic_store_explicit(&t->arena->ring_state[i], RING_FREE, memory_order_release);
}

void rings_free(struct target *t, uint32_t i)
{
	ring_clear(t, i);
	ring_offer(t, i);
}

static void ring_punch(struct target *t, uint32_t i)
{
	uint64_t stride = ring_stride_bytes(t->ring_bytes);
	uint64_t from = arena_rings_offset() + i * stride + RING_PAGE_BYTES;

	fallocate(t->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
		(off_t)(stride - RING_PAGE_BYTES));
}

static bool has_few_free_rings(const struct target *t)
{
	uint32_t allowed = atomic_load(&t->arena->rings_allowed);
	uint32_t n_free = allowed;

	for (uint32_t i = 0; i < allowed && i < t->n_rings; i++)
		n_free -= rings_is_used(t, i) != 0;
	return n_free < allowed / 4;
}

bool rings_free_gone(struct target *t)
{
	bool had_few = has_few_free_rings(t);
	uint32_t n_free = 0;
	uint32_t n_gone = 0;

	for (uint32_t i = 0; i < t->n_rings; i++) {
		bool is_used = rings_is_used(t, i);

		if (is_used && target_has_thread(t, target_ring(t, i)->tid))
			continue;
		/*
		 * The ring is cleared before other threads may claim it. It is punched if enough
		 * free rings are in front, which they claim first.
		 */
		if (is_used) {
			ring_clear(t, i);
			if (n_free >= MAX_WARM_RINGS)
				ring_punch(t, i);
			ring_offer(t, i);
		}
		n_gone += is_used != 0;
		n_free++;
	}
	return had_few && n_gone;
}

/* The index behind the last ring that a thread has. */
static uint32_t find_end_of_used(const struct target *t)
{
	uint32_t n = t->n_rings;

	while (n && !rings_is_used(t, n - 1))
		n--;
	return n;
}

static uint32_t populate_rings(struct target *t, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && madvise(target_ring(t, i), ring_stride_bytes(t->ring_bytes),
				MADV_POPULATE_WRITE) == 0)
		i++;
	return i;
}

uint64_t rings_find_room(uint64_t headroom_bytes, uint64_t held_bytes)
{
	uint64_t room = (headroom_bytes + held_bytes) / 4;

	return held_bytes < room ? room - held_bytes : 0;
}

/*
 * Counts the rings to prepare if all processes together have room for |room| rings. A spare ring is
 * included only if there is plenty of room.
 */
static uint32_t count_wanted_rings(const struct target *t, uint64_t room, size_t n_sharing)
{
	/* The library's own thread is counted, too, so one of these rings is a spare one. */
	uint32_t wanted = target_count_threads(t);
	uint32_t used = find_end_of_used(t);

	if (wanted > 1 && wanted > room / n_sharing)
		wanted--;
	if (wanted > MAX_SPARE_RINGS)
		wanted = MAX_SPARE_RINGS;
	if (wanted < used)
		wanted = used;
	if (wanted > t->n_rings)
		wanted = t->n_rings;
	return wanted < room ? wanted : (uint32_t)room;
}

uint32_t rings_prepare(struct target *t, uint64_t room_bytes, size_t n_sharing)
{
	uint64_t room = room_bytes / ring_stride_bytes(t->ring_bytes);
	uint32_t n = populate_rings(t, count_wanted_rings(t, room, n_sharing));
	uint64_t allowed = n + (room - n) / n_sharing;

	atomic_store(
		&t->arena->rings_allowed, allowed < t->n_rings ? (uint32_t)allowed : t->n_rings);
	return n;
}

void rings_trim(struct target *t)
{
	uint32_t ready = atomic_exchange(&t->arena->rings_ready, 0);

	for (uint32_t i = 0; i < t->n_rings; i++) {
		bool is_used = rings_is_used(t, i);

		if (!is_used && i >= ready && !t->tail[i])
			continue;
		if (is_used && !target_has_thread(t, target_ring(t, i)->tid))
			rings_free(t, i);
		ring_punch(t, i);
	}
}

void rings_end(struct target *t)
{
	/* The program goes on, and one of its threads may still read its ring's first page. */
	if (target_get_life(t) == TARGET_STOPPED)
		rings_trim(t);
	else
		target_empty(t);
}
