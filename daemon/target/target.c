/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program being recorded; see target.h, and lib/control/control.c for the other side of the
 * arena's words.
 */
#include "daemon/target/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "daemon/kernel/crash_watch.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/mapped.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/timeline.h"
#include "lib/wire/arena.h"

#define CONTROL_TIMEOUT_NS (5 * NS_PER_S)

static size_t target_page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct robust_list *target_robust_node(const struct target *t)
{
	return (struct robust_list *)t->arena - 1;
}

/* --- The robust list -------------------------------------------------------------------------- */

/*
 * The arenas whose owner word this thread holds: the kernel wakes their targets when the thread
 * dies. It finds the word at a fixed distance from the node, which lies in a private page before
 * the arena: a target that could write the node would steer the kernel's writes in this process.
 * The thread uses no robust mutex, and is always the same.
 */
static struct robust_list_head robust_list_head = {
	.list.next = &robust_list_head.list,
	.futex_offset = sizeof(struct robust_list) + offsetof(struct arena, owner),
};

static void robust_hold(struct robust_list *node)
{
	node->next = robust_list_head.list.next;
	robust_list_head.list.next = node;
	syscall(SYS_set_robust_list, &robust_list_head, sizeof robust_list_head);
}

static void robust_forget(const struct robust_list *node)
{
	struct robust_list *before = &robust_list_head.list;

	while (before->next != &robust_list_head.list && before->next != node)
		before = before->next;
	if (before->next == node)
		before->next = node->next;
}

/* --- Opening and closing ---------------------------------------------------------------------- */

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

/* Maps the arena after a private page of our own. */
static void *target_map_arena(int memfd, uint64_t size_bytes)
{
	size_t page = target_page_bytes();
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
	p = target_map_arena(memfd, t->size_bytes);
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
	t->is_held = true;
	robust_hold(target_robust_node(t));
	atomic_store(&t->arena->owner, (uint32_t)gettid() | ARENA_WAITERS);
	futex_wake(&t->arena->owner, 1);
}

static void target_close_memfd(struct target *t)
{
	if (t->owns_memfd)
		close(t->memfd);
	t->owns_memfd = false;
}

void target_close(struct target *t)
{
	if (!t->arena)
		return;
	if (t->is_held)
		robust_forget(target_robust_node(t));
	munmap((char *)t->arena - target_page_bytes(), target_page_bytes() + t->size_bytes);
	t->arena = NULL;
	inner_threads_free(&t->inner);
	target_close_memfd(t);
}

void target_empty(struct target *t)
{
	fallocate(t->memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)arena_rings_offset(),
		(off_t)(t->size_bytes - arena_rings_offset()));
	target_close_memfd(t);
}

static uint32_t target_choose_clock(const struct target *t)
{
	if (t->arena->flags & ARENA_TICKS_ALLOWED && timeline_ticks_are_usable(""))
		return ARENA_CLOCK_TICKS;
	return ARENA_CLOCK_MONOTONIC;
}

int target_meet(struct target *t, struct diag *d)
{
	int64_t give_up = monotonic_ns() + CONTROL_TIMEOUT_NS;
	int r;

	/*
	 * The control thread takes its word |guest| when it runs; by then the arena's head is
	 * filled.
	 */
	while (!(atomic_load(&t->arena->guest) & ARENA_TID_MASK)) {
		if (monotonic_ns() > give_up)
			return diag_set(
				d, -ETIMEDOUT, "the program did not begin the handshake in time");
		futex_wait_until(&t->arena->guest, 0, monotonic_ns() + 100 * NS_PER_MS);
	}
	r = target_read_head(t, d);
	if (!r)
		atomic_store(&t->arena->clock, target_choose_clock(t));
	return r;
}

void target_greet(struct target *t)
{
	uint32_t none = ARENA_HELLO_NONE;

	if (atomic_compare_exchange_strong(&t->arena->hello, &none, ARENA_HELLO_READY))
		futex_wake(&t->arena->hello, 1);
}

void target_fail_hello(struct target *t, const struct diag *d)
{
	snprintf(t->arena->message, sizeof t->arena->message, "%s", d->text);
	atomic_store(&t->arena->hello_error, d->code);
	atomic_store(&t->arena->hello, ARENA_HELLO_FAILED);
	futex_wake(&t->arena->hello, 1);
}

void target_close_hello(struct target *t)
{
	uint32_t ready = ARENA_HELLO_READY;

	/* The library may not have read a failure yet: do not overwrite it. */
	atomic_compare_exchange_strong(&t->arena->hello, &ready, ARENA_HELLO_CLOSED);
	futex_wake(&t->arena->hello, 1);
}

/* --- Commands --------------------------------------------------------------------------------- */

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

		/* The target may have answered before it exited, so read the answer once more. */
		if (target_get_life(t) != TARGET_ALIVE)
			return atomic_load(&a->ack) == t->command ? 0 : -ESRCH;
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		futex_wait_until(&a->ack, ack, now + 20 * NS_PER_MS);
	}
	return 0;
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

bool target_has_thread(struct target *t, pid_t tid)
{
	if (t->has_own_tids)
		return inner_threads_have(&t->inner, "", t->pid, tid, monotonic_ns());
	return !(syscall(SYS_tgkill, t->pid, tid, 0) && errno == ESRCH);
}

/* --- The end ---------------------------------------------------------------------------------- */

#define MAX_EXEC_NS NS_PER_S
#define POLL_MS 1

enum target_life target_get_life(const struct target *t)
{
	uint32_t word = atomic_load(&t->arena->guest);

	if (word & ARENA_TID_MASK)
		return atomic_load(&t->has_exited) ? TARGET_DEAD : TARGET_ALIVE;
	return word & FUTEX_OWNER_DIED ? TARGET_DEAD : TARGET_STOPPED;
}

static int target_get_pidfd(const struct target *t)
{
	int pidfd = atomic_load(&t->pidfd);

	return pidfd ? pidfd : -1;
}

static int target_get_stat_fd(const struct target *t)
{
	return t->stat_fd ? t->stat_fd : -1;
}

int target_find_ending(const struct target *t)
{
	int status = atomic_load(&t->ending) - 1;

	return status >= 0 ? status : exit_status_find(target_get_stat_fd(t), target_get_pidfd(t));
}

bool target_has_ended_well(const struct target *t)
{
	return exit_status_is_zero(t->pid, target_get_pidfd(t), t->start_ticks);
}

bool target_has_become_another(const struct target *t)
{
	return image_is_another(t->pid, target_get_pidfd(t), t->memfd);
}

uid_t target_find_uid(struct target *t)
{
	uid_t uid = atomic_load(&t->uid);

	if (atomic_load(&t->is_departed) || !t->status_fd)
		return uid;
	owner_read_uid(t->status_fd, &uid);
	atomic_store(&t->uid, uid);
	return uid;
}

bool target_is_departing(const struct target *t)
{
	int status;

	return process_exit_poll(target_get_stat_fd(t), target_get_pidfd(t), 0, &status) !=
	       PROCESS_EXIT_NONE;
}

void target_rehearse_end(struct target *t)
{
	int status;

	target_find_uid(t);
	process_exit_poll(target_get_stat_fd(t), target_get_pidfd(t), 0, &status);
}

/* Checks twice: the first check may have met the last moment of a process that ends. */
static bool target_is_another(const struct target *t)
{
	return target_has_become_another(t) && target_has_become_another(t);
}

/*
 * Waits for a process whose threads have ended while it has not: it is in the middle of exec or
 * exit(), and waits for a processor.
 */
static void target_await_exec(struct target *t, int *status)
{
	int64_t give_up_ns = monotonic_ns() + MAX_EXEC_NS;

	while (!t->is_another && monotonic_ns() < give_up_ns &&
		process_exit_poll(target_get_stat_fd(t), target_get_pidfd(t), POLL_MS, status) !=
			PROCESS_EXIT_OVER)
		t->is_another = target_is_another(t);
}

void target_note_crash(struct target *t, struct target *main)
{
	pid_t tid;

	if (main->crash_fd)
		crash_watch_read(main->crash_fd - 1, &main->crashes);
	tid = crashes_find(&main->crashes, t->pid);
	if (tid)
		atomic_store(&t->signal_tid, tid);
}

/*
 * Finds out whether the main thread received the signal. The kernel sets that thread's PF_DUMPCORE
 * before the first thread ends, and keeps it until the parent has waited for the process.
 */
static void target_read_signal(struct target *t)
{
	target_note_crash(t, t);
	exit_note_read_signal(t, target_get_stat_fd(t));
}

void target_await_end(struct target *t)
{
	int status = -1;

	exit_note_update(t);
	if (target_get_life(t) != TARGET_DEAD || atomic_load(&t->is_departed))
		return;
	target_find_uid(t);
	atomic_store(&t->is_departed, 1);
	target_read_signal(t);
	if (target_get_pidfd(t) >= 0 && process_exit_await(target_get_stat_fd(t),
						target_get_pidfd(t), &status) == PROCESS_EXIT_NONE)
		target_await_exec(t, &status);
	if (status < 0)
		status = target_find_ending(t);
	if (status >= 0)
		atomic_store(&t->ending, status + 1);
}

void target_set_exited(struct target *t)
{
	atomic_store(&t->has_exited, 1);
	/*
	 * The waiting thread may be about to sleep, so try again; a busy one will read has_exited.
	 */
	for (int i = 0; i < 1000 && (atomic_load(&t->arena->guest) & ARENA_TID_MASK); i++) {
		if (target_kick(t))
			return;
		usleep(100);
	}
}

/* --- arena file ------------------------------------------------------------------------------- */

#define WANTED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

uint64_t arena_file_find_size(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0 || (seals & WANTED_SEALS) != WANTED_SEALS || fstatfs(fd, &fs) ||
		fs.f_type == HUGETLBFS_MAGIC || fstat(fd, &st) ||
		(uint64_t)st.st_size < arena_size_bytes(1, ARENA_MIN_RING_BYTES))
		return 0;
	return (uint64_t)st.st_size;
}
