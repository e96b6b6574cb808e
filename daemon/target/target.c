/* SPDX-License-Identifier: Apache-2.0 */
/* The program being recorded; see target.h, and lib/control/control.c for the other side of the words. */
#include "daemon/target/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "daemon/kernel/robust.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/target/arena_file.h"
#include "daemon/target/timeline.h"

#define CONTROL_TIMEOUT_NS (5 * NS_PER_S)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct robust_list *robust_node(const struct target *t)
{
	return (struct robust_list *)t->arena - 1;
}

int target_read_head(struct target *t, struct diag *d)
{
	const struct arena *a = t->arena;
	/* Read once: the target may write them meanwhile. */
	uint32_t n_rings = __atomic_load_n(&a->n_rings, __ATOMIC_RELAXED);
	uint32_t ring_bytes = __atomic_load_n(&a->ring_bytes, __ATOMIC_RELAXED);

	if (a->magic != ARENA_MAGIC)
		return diag_set(d, -EPROTO, "the shared memory is not proftap's");
	if (a->version_low > ARENA_VERSION_HIGH || a->version_high < ARENA_VERSION_LOW)
		return diag_set(d, -EPROTO,
			"the library speaks layout %u to %u, this proftapd %u to %u; install the same "
			"version of both",
			a->version_low, a->version_high, ARENA_VERSION_LOW, ARENA_VERSION_HIGH);
	if (n_rings < 1 || n_rings > ARENA_MAX_RINGS || ring_bytes < ARENA_MIN_RING_BYTES ||
		ring_bytes > ARENA_MAX_RING_BYTES || (ring_bytes & (ring_bytes - 1)) ||
		arena_size_bytes(n_rings, ring_bytes) != t->size_bytes)
		return diag_set(d, -EPROTO, "the shared memory's layout makes no sense");
	t->n_rings = n_rings;
	t->ring_bytes = ring_bytes;
	t->n_slots = ring_bytes / SLOT_BYTES;
	atomic_store(&t->flags, a->flags);
	t->max_capture_bytes = a->max_capture_bytes;
	snprintf(t->name, sizeof t->name, "%.*s", (int)sizeof a->name - 1, a->name);
	return 0;
}

/* Behind a private page of our own. */
static void *map_arena(int memfd, uint64_t size_bytes)
{
	size_t page = page_bytes();
	char *p = mmap(NULL, page + size_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *arena;

	if (p == MAP_FAILED)
		return p;
	arena = mmap(p + page, size_bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memfd, 0);
	if (arena == MAP_FAILED)
		munmap(p, page + size_bytes);
	return arena;
}

int target_open(struct target *t, int memfd, pid_t pid, struct diag *d)
{
	void *p;

	memset(t, 0, sizeof *t);
	t->memfd = memfd;
	t->pid = pid;
	t->uid = geteuid();
	t->size_bytes = arena_file_find_size(memfd);
	if (!t->size_bytes)
		return diag_set(d, -EPROTO, "descriptor %d: not a sealed arena", memfd);
	p = map_arena(memfd, t->size_bytes);
	if (p == MAP_FAILED)
		return diag_set(d, -errno, "cannot map the arena: %s", errno_words(errno));
	t->arena = p;
	madvise(p, t->size_bytes, MADV_DONTDUMP);
	return 0;
}

void target_compare_clock(struct target *t)
{
	t->clock_ahead_ns =
		time_namespace_find_ahead_ns("", t->pid) - time_namespace_find_ahead_ns("", 0);
}

void target_hold(struct target *t)
{
	t->is_held = 1;
	robust_hold(robust_node(t));
	atomic_store(&t->arena->owner, (uint32_t)gettid() | ARENA_WAITERS);
	futex_wake(&t->arena->owner, 1);
}

static void close_memfd(struct target *t)
{
	if (t->owns_memfd)
		close(t->memfd);
	t->owns_memfd = 0;
}

void target_close(struct target *t)
{
	if (!t->arena)
		return;
	if (t->is_held)
		robust_forget(robust_node(t));
	munmap((char *)t->arena - page_bytes(), page_bytes() + t->size_bytes);
	t->arena = NULL;
	inner_threads_free(&t->inner);
	close_memfd(t);
}

void target_empty(struct target *t)
{
	fallocate(t->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)arena_rings_offset(),
		(off_t)(t->size_bytes - arena_rings_offset()));
	close_memfd(t);
}

static uint32_t choose_clock(const struct target *t)
{
	if (t->arena->flags & ARENA_TICKS_ALLOWED && timeline_ticks_are_usable(""))
		return ARENA_CLOCK_TICKS;
	return ARENA_CLOCK_MONOTONIC;
}

int target_meet(struct target *t, struct diag *d)
{
	int64_t give_up = monotonic_ns() + CONTROL_TIMEOUT_NS;
	int r;

	/* The arena's head is filled, and the control thread is there, once its word is held. */
	while (!(atomic_load(&t->arena->guest) & ARENA_TID_MASK)) {
		if (monotonic_ns() > give_up)
			return diag_set(d, -ETIMEDOUT, "the program did not come to the handshake");
		futex_wait_until(&t->arena->guest, 0, monotonic_ns() + 100 * NS_PER_MS);
	}
	r = target_read_head(t, d);
	if (!r)
		atomic_store(&t->arena->clock, choose_clock(t));
	return r;
}

void target_greet(struct target *t)
{
	uint32_t none = ARENA_HELLO_NONE;

	if (atomic_compare_exchange_strong(&t->arena->hello, &none, ARENA_HELLO_READY))
		futex_wake(&t->arena->hello, 1);
}

void target_wait(struct target *t, int64_t deadline_ns)
{
	uint32_t word = atomic_load(&t->arena->guest);

	if (word & ARENA_TID_MASK && !atomic_load(&t->has_exited))
		futex_wait_until(&t->arena->guest, word, deadline_ns);
	target_await_end(t);
}

int target_kick(struct target *t)
{
	return futex_wake(&t->arena->guest, 1);
}

void target_send(struct target *t, enum arena_op op, uint32_t arg)
{
	struct arena *a = t->arena;

	atomic_store(&a->op, op);
	atomic_store(&a->arg, arg);
	atomic_store(&a->command, ++t->command);
	atomic_fetch_xor(&a->owner, ARENA_TOGGLE);
	futex_wake(&a->owner, 1);
}

int target_await(struct target *t, int64_t deadline_ns)
{
	struct arena *a = t->arena;
	uint32_t ack;

	while ((ack = atomic_load(&a->ack)) != t->command) {
		int64_t now = monotonic_ns();

		/* It may have answered and then ended. */
		if (target_get_life(t) != TARGET_ALIVE)
			return atomic_load(&a->ack) == t->command ? 0 : -ESRCH;
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		futex_wait_until(&a->ack, ack, now + 20 * NS_PER_MS);
	}
	return 0;
}

int target_post(struct target *t, enum arena_op op, uint32_t arg, int timeout_ms)
{
	target_send(t, op, arg);
	return target_await(t, monotonic_ns() + timeout_ms * NS_PER_MS);
}

struct ring *target_ring(const struct target *t, uint32_t i)
{
	return arena_ring(t->arena, i, t->ring_bytes);
}

unsigned target_count_threads(const struct target *t)
{
	char path[64];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid);
	dir = opendir(path);
	if (!dir)
		return 1;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n ? n : 1;
}

int target_has_thread(struct target *t, pid_t tid)
{
	if (t->has_own_tids)
		return inner_threads_have(&t->inner, "", t->pid, tid, monotonic_ns());
	return !(syscall(SYS_tgkill, t->pid, tid, 0) && errno == ESRCH);
}
