/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a thread its ring; see thread.h. */
#define PTAP_IMPL_BUILDING
#include "lib/record/thread.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/utf8.h"
#include "lib/record/emit.h"
#include "lib/record/guest.h"
#include "lib/record/ring_claim.h"

__thread struct thread thread_self __attribute__((tls_model("initial-exec")));

static void identify_ring(const struct thread *self, struct arena *arena, struct ring *ring)
{
	char name[RING_NAME_BYTES] = "";

	if (self->name[0])
		memcpy(name, self->name, sizeof name);
	else if (!thread_names_find((int32_t)syscall(SYS_gettid), name))
		prctl(PR_GET_NAME, name, 0, 0, 0);
	ring_identify(ring, arena, name);
}

/* A thread that has forbidden itself this capture's clock would be killed by its own annotation. */
static bool may_record(const struct guest *guest)
{
	return atomic_load_explicit(&guest->clock, memory_order_relaxed) != ARENA_CLOCK_TICKS ||
	       guest_may_read_ticks();
}

/* The fast path needs the counter as its clock. */
static bool has_fast_path(void)
{
	return TICKS_ARE_READABLE &&
	       atomic_load_explicit(&guest_get()->clock, memory_order_relaxed) == ARENA_CLOCK_TICKS;
}

/* Called at a forked child's first annotation, or while its other thread runs guest_join(). */
static struct ring *enter_followed(struct thread *self)
{
	uint32_t word;

	guest_join();
	word = atomic_load_explicit(&guest_get()->word, memory_order_acquire);
	return (word & 3u) && word != GUEST_WORD_FOLLOW ? thread_enter(self, word) : NULL;
}

/*
 * The arena of the capture |word|, or NULL when it is over. The acquires are the partner of the
 * control thread's release: data written before the word was published (clock, rings) is seen from
 * here on. The arena changes only while nothing is recorded: an arena read between two loads of the
 * same capture's word belongs to that capture.
 */
static struct arena *find_arena(struct guest *guest, uint32_t word)
{
	struct arena *arena;

	if (!ring_is_same_recording(atomic_load_explicit(&guest->word, memory_order_acquire), word))
		return NULL;
	arena = atomic_load_explicit(&guest->arena, memory_order_acquire);
	if (!ring_is_same_recording(atomic_load_explicit(&guest->word, memory_order_acquire), word))
		return NULL;
	return arena;
}

/* Returns NULL if no ring is left. */
static struct ring *take_ring(struct thread *self, struct arena *arena, uint32_t word)
{
	if (self->arena != arena)
		self->ring = NULL;
	if (!self->ring) {
		self->ring = may_record(guest_get()) ? ring_claim(arena) : NULL;
		self->arena = arena;
		if (self->ring)
			identify_ring(self, arena, self->ring);
	}
	if (!self->ring || !ring_arena_is_ours(arena))
		return NULL;
	ring_enter(self->ring, word);
	self->n_unopened = 0;
	/*
	 * A handler that comes before the word is stored enters nothing; a later one needs
	 * |takes_slow_path|.
	 */
	self->takes_slow_path = !has_fast_path();
	signal_fence();
	self->word = word;
	signal_fence();
	self->idle = thread_get_idle_word(self);
	return self->ring;
}

/*
 * Changes the state to the new level of the thread's capture. A handler that interrupts an
 * annotation must not change the state.
 */
static struct ring *change_level(struct thread *self, uint32_t word)
{
	if (self->idle) {
		self->word = word;
		signal_fence();
		self->idle = thread_get_idle_word(self);
	}
	return self->ring;
}

struct ring *thread_enter(struct thread *self, uint32_t word)
{
	struct ring *ring = NULL;
	struct arena *arena;
	int saved;

	if (word == GUEST_WORD_FOLLOW)
		return enter_followed(self);
	if (ring_is_same_recording(self->word, word))
		return change_level(self, word);
	arena = find_arena(guest_get(), word);
	if (!arena)
		return NULL;
	/*
	 * A signal handler that interrupts this finds no ring yet. After a siglongjmp() out of the
	 * handler there is no ring either. A thread that got no ring does not try again in the same
	 * capture.
	 */
	if (self->entering != word) {
		self->entering = word;
		signal_fence();
		saved = errno;
		ring = take_ring(self, arena, word);
		errno = saved;
		signal_fence();
		if (ring)
			self->entering = 0;
	}
	if (!ring && ring_arena_is_ours(arena))
		atomic_fetch_add_explicit(&arena->lost_no_ring, 1, memory_order_relaxed);
	return ring;
}

void ring_end(void)
{
	thread_give_back(&thread_self, thread_get_idle_word(&thread_self));
}

/* --- thread names ----------------------------------------------------------------------------- */

/* Names are only ever appended, so a reader always reads whole ones. */
static struct {
	_Atomic int32_t tid; /* 0: not written yet; stored after the name */
	char name[RING_NAME_BYTES];
} names[THREAD_NAMES_MAX];

static _Atomic uint32_t n_names;

void thread_names_set(int32_t tid, const char *name)
{
	uint32_t at = atomic_load(&n_names);

	do {
		if (at == THREAD_NAMES_MAX)
			return;
	} while (!atomic_compare_exchange_weak(&n_names, &at, at + 1));
	memcpy(names[at].name, name, strnlen(name, RING_NAME_BYTES - 1));
	atomic_store_explicit(&names[at].tid, tid, memory_order_release);
}

bool thread_names_find(int32_t tid, char name[RING_NAME_BYTES])
{
	for (uint32_t i = atomic_load(&n_names); i-- > 0;) {
		if (atomic_load_explicit(&names[i].tid, memory_order_acquire) == tid) {
			memcpy(name, names[i].name, RING_NAME_BYTES);
			return true;
		}
	}
	return false;
}

void ptap_thread_name(const char *name)
{
	struct thread *self = &thread_self;

	utf8_fit(self->name, sizeof self->name, name ? name : "");
	/* A thread that already has a ring gets the name there, too. */
	if (self->ring && self->arena && self->arena == guest_get()->arena)
		ring_set_name(self->ring, self->name);
}
