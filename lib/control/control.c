/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control thread; see control.h.
 *
 * The server thread holds |owner| with its tid, as a robust word: the kernel clears it when that
 * thread is gone. The server flips bit 30 with each command so that the word changes; the kernel
 * uses the same bit for FUTEX_OWNER_DIED, which is why only a zero tid means death. |owner| must be
 * read before |command|: a command that comes in between has flipped the bit, and the wait returns
 * at once.
 *
 * |guest| works the other way round: this thread holds it, and a server thread waits on it.
 */
#include "lib/control/control.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "lib/collect/collect.h"
#include "lib/control/life.h"
#include "lib/record/guest.h"
#include "lib/record/map.h"

#define CONTROL_STACK_BYTES (64u << 10)

/*
 * The robust list lies in private memory: in the arena, another process could steer the kernel's
 * writes.
 */
static struct {
	struct robust_list_head head;
	struct robust_list node;
} robust;

static void hold_guest_word(struct arena *arena)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	robust.head.list.next = &robust.node;
	robust.node.next = &robust.head.list;
	robust.head.futex_offset = (char *)&arena->guest - (char *)&robust.node;
	robust.head.list_op_pending = NULL;
	syscall(SYS_set_robust_list, &robust.head, sizeof robust.head);
	atomic_store(&arena->guest, tid | ARENA_WAITERS);
	futex_wake(&arena->guest, 1);
}

static void release_guest_word(struct arena *arena)
{
	atomic_store(&arena->guest, 0);
	futex_wake(&arena->guest, 1);
	robust.head.list.next = &robust.head.list;
}

static void prepare_rings(struct arena *arena, uint32_t n)
{
	uint32_t ring_bytes = arena->ring_bytes;
	uint32_t ready = atomic_load(&arena->rings_ready);

	if (n > arena->n_rings)
		n = arena->n_rings;
	while (ready < n && map_ring(arena_ring(arena, ready, ring_bytes), ring_bytes) == 0)
		ready++;
	atomic_store_explicit(&arena->rings_ready, ready, memory_order_release);
}

static uint32_t choose_new_word(struct guest *guest, struct arena *arena)
{
	atomic_store_explicit(&guest->clock, guest_choose_clock(atomic_load(&arena->clock)),
		memory_order_relaxed);
	return guest_next_word(0);
}

/* The time from which ptap_enabled() may return true, by |arg| of ARENA_OP_START; 0: at once. */
static int64_t find_early_end(uint32_t arg)
{
	uint32_t early_us = arg >> ARENA_START_EARLY_SHIFT;

	return early_us ? monotonic_ns_by_call() + early_us * INT64_C(1000) : 0;
}

/*
 * |arg| is that of ARENA_OP_START. If only the level changes, the recording goes on and open spans
 * stay open.
 */
static void start_recording(struct guest *guest, struct arena *arena, uint32_t arg)
{
	uint32_t word = atomic_load(&guest->word);

	if (!(arg & ARENA_START_GOES_ON) || !word || word == GUEST_WORD_FOLLOW)
		word = choose_new_word(guest, arena);
	word = (word & ~3u) | (arg & 3u);
	atomic_store_explicit(
		&guest->overwrites, !!(arg & ARENA_START_OVERWRITES), memory_order_relaxed);
	atomic_store(&arena->word, word);
	atomic_store_explicit(&guest->word, word, memory_order_release);
	atomic_store(&arena->recording_since_ns, monotonic_ns_by_call());
}

/*
 * Sets |*early_end_ns| to the time at which guest_page.level.is_early becomes 0 again; 0 if it is 0
 * already.
 */
static void do_command(struct guest *guest, struct arena *arena, int64_t *early_end_ns)
{
	uint32_t arg = atomic_load(&arena->arg);

	switch (atomic_load(&arena->op)) {
	case ARENA_OP_PREPARE:
		prepare_rings(arena, arg);
		break;
	case ARENA_OP_START:
		*early_end_ns = find_early_end(arg);
		atomic_store(&guest_page.level.is_early, *early_end_ns != 0);
		start_recording(guest, arena, arg);
		break;
	case ARENA_OP_STOP:
		atomic_store(&guest->word, 0);
		*early_end_ns = 0;
		atomic_store(&guest_page.level.is_early, 0);
		break;
	case ARENA_OP_COLLECT:
		collect_start(arena);
		break;
	}
}

/* Serves commands. Returns true when the server has died, false when the host stops the thread. */
static bool serve_commands(struct guest *guest, struct arena *arena)
{
	int64_t early_end_ns = 0;
	uint32_t seen = 0;

	for (;;) {
		uint32_t owner = atomic_load(&arena->owner);
		uint32_t command = atomic_load(&arena->command);

		if (atomic_load(&guest->quit))
			return false;
		if (command != seen) {
			do_command(guest, arena, &early_end_ns);
			seen = command;
			atomic_store(&arena->ack, command);
			futex_wake(&arena->ack, 1);
			continue;
		}
		if (server_has_left(owner))
			return true;
		if (early_end_ns && monotonic_ns_by_call() >= early_end_ns) {
			atomic_store(&guest_page.level.is_early, 0);
			early_end_ns = 0;
		}
		futex_wait_until(&arena->owner, owner, early_end_ns ? early_end_ns : INT64_MAX);
	}
}

/* Unlocks first: the host may have locked all its memory, and locked pages cannot be freed. */
static void free_pages(char *from, size_t n)
{
	munlock(from, n);
	madvise(from, n, MADV_REMOVE);
}

/*
 * Frees the rings' memory after the server's end. The mapping stays, since a thread may still be in
 * the middle of a record; so do the heads (4 KiB each), because that thread reads its ring's size
 * there.
 */
static void free_ring_pages(struct arena *arena)
{
	uint32_t ring_bytes = arena->ring_bytes;
	uint32_t ready = atomic_load(&arena->rings_ready);

	for (uint32_t i = 0; i < arena->n_rings; i++) {
		char *ring = (char *)arena_ring(arena, i, ring_bytes);

		if (i < ready || atomic_load(&arena->ring_state[i]) == RING_USED)
			free_pages(ring + RING_PAGE_BYTES, RING_FRAMES_BYTES + ring_bytes);
	}
}

static void *control_main(void *unused)
{
	struct guest *guest = guest_get();
	struct arena *arena = guest->arena;

	/*
	 * pthread_setname_np() from another thread would open a file: a descriptor in the host's
	 * table.
	 */
	prctl(PR_SET_NAME, "ptap-control");
	hold_guest_word(arena);
	if (serve_commands(guest, arena)) {
		atomic_store(&guest->word, 0);
		atomic_store(&guest->is_serving, 0);
		free_ring_pages(arena);
	}
	atomic_store(&guest->word, 0);
	release_guest_word(arena);
	return unused;
}

static int create_control_thread(struct guest *guest, size_t stack_bytes)
{
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	if (stack_bytes)
		pthread_attr_setstacksize(&attr, stack_bytes);
	r = pthread_create(&guest->control_thread, &attr, control_main, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

int control_start(void)
{
	struct guest *guest = guest_get();
	sigset_t all;
	sigset_t before;
	int r;

	atomic_store(&guest->quit, 0);
	/*
	 * The thread inherits the mask, so none of the host's signals lands in it. Libc leaves its
	 * own signals unblocked: setuid() waits until every thread has answered one.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = create_control_thread(guest, CONTROL_STACK_BYTES);
	/* A host with much thread-local storage needs a larger stack. */
	if (r)
		r = create_control_thread(guest, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return r;
	guest->has_control_thread = 1;
	return 0;
}

void control_stop(void)
{
	struct guest *guest = guest_get();
	struct arena *arena = guest->arena;

	if (!guest->has_control_thread)
		return;
	atomic_store(&guest->word, 0);
	atomic_store(&guest->quit, 1);
	/* The thread may be between its check of |quit| and its sleep: |owner| must change too. */
	atomic_fetch_xor(&arena->owner, ARENA_TOGGLE);
	futex_wake(&arena->owner, 1);
	pthread_join(guest->control_thread, NULL);
	guest->has_control_thread = 0;
}
