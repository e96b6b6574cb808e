/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is being recorded, without a server; see guest_fixture.h. */
#include "tests/unit/guest_fixture.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/record/guest.h"
#include "lib/record/strings.h"
#include "lib/record/thread.h"

struct guest_fixture fixture;

static enum arena_clock clock_of_next = ARENA_CLOCK_TICKS;

static void fill_target(struct target *t, uint32_t n_rings, uint64_t size_bytes)
{
	memset(t, 0, sizeof *t);
	t->arena = fixture.arena;
	t->size_bytes = size_bytes;
	t->n_rings = n_rings;
	t->ring_bytes = fixture.arena->ring_bytes;
	t->n_slots = t->ring_bytes / SLOT_BYTES;
	t->pid = getpid();
	t->memfd = -1;
	strcpy(t->name, "fixture");
}

void fixture_open_sized(uint32_t n_rings, uint32_t ring_bytes)
{
	uint64_t size = arena_size_bytes(n_rings, ring_bytes);
	struct guest *guest = guest_get();
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	fixture.arena = p;
	fixture.arena->n_rings = n_rings;
	fixture.arena->ring_bytes = ring_bytes;
	atomic_store(&fixture.arena->strings_used, 8);
	atomic_store(&fixture.arena->rings_ready, n_rings);
	atomic_store(&fixture.arena->rings_allowed, n_rings);
	guest->arena = fixture.arena;
	guest->clock = clock_of_next;
	atomic_store(&fixture.arena->clock, clock_of_next);
	fill_target(&fixture.target, n_rings, size);
}

void fixture_open_rings(uint32_t n_rings)
{
	fixture_open_sized(n_rings, FIXTURE_RING_BYTES);
}

void fixture_open(void)
{
	fixture_open_rings(FIXTURE_RINGS);
}

void fixture_close(void)
{
	fixture_publish(0);
	guest_get()->arena = NULL;
	fixture_overwrite(false);
	clock_of_next = ARENA_CLOCK_TICKS;
	munmap(fixture.arena, fixture.target.size_bytes);
	/* The next arena may be at the same address. */
	memset(&thread_self, 0, sizeof thread_self);
}

uint32_t fixture_start(uint32_t level)
{
	uint32_t word = guest_next_word(level);

	fixture_publish(word);
	return word;
}

void fixture_take_slow_path(void)
{
	clock_of_next = ARENA_CLOCK_MONOTONIC;
}

uint64_t fixture_now(void)
{
	return clock_of_next == ARENA_CLOCK_TICKS ? ticks_read() : (uint64_t)monotonic_ns();
}

void fixture_overwrite(bool overwrites)
{
	atomic_store(&guest_get()->overwrites, overwrites ? 1 : 0);
}

void fixture_publish(uint32_t word)
{
	atomic_store(&guest_get()->word, word);
}

int fixture_wipe_on_fork(void)
{
	return guest_wipe_on_fork();
}

struct ring *fixture_ring(uint32_t i)
{
	return arena_ring(fixture.arena, i, fixture.arena->ring_bytes);
}

struct slot *fixture_slot(uint32_t i, uint64_t at)
{
	return ring_data(fixture_ring(i)) + at % fixture.target.n_slots;
}

uint64_t fixture_head(uint32_t i)
{
	return atomic_load(&fixture_ring(i)->head);
}

uint64_t fixture_lost(uint32_t i, enum ring_loss reason)
{
	return atomic_load(&fixture_ring(i)->lost[reason]);
}

void fixture_empty(uint32_t i)
{
	struct ring *ring = fixture_ring(i);

	atomic_store(&ring->tail, atomic_load(&ring->head));
}

const char *fixture_string(uint32_t id)
{
	static char text[STRING_MAX_BYTES + 1];
	const char *at = arena_strings(fixture.arena) + (size_t)id * 8;
	uint32_t n;

	ck_assert_uint_lt(id * 8u, atomic_load(&fixture.arena->strings_used));
	memcpy(&n, at, sizeof n);
	ck_assert_uint_le(n, STRING_MAX_BYTES);
	memcpy(text, at + sizeof n, n);
	text[n] = '\0';
	return text;
}

uint32_t fixture_add_string(const char *text)
{
	return strings_append(fixture.arena, text);
}

uint64_t fixture_start_of(const struct slot *slot)
{
	return slot->word[0] & RECORD_START_MASK;
}

uint64_t fixture_duration_of(const struct slot *slot)
{
	return slot->word[1] & RECORD_DURATION_MASK;
}

const char *fixture_name_of(const struct slot *slot)
{
	return fixture_string((uint32_t)(slot->word[1] >> RECORD_DURATION_BITS));
}
