/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the program; see target.h. */
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "daemon/kernel/crash_watch.h"
#include "daemon/kernel/departure.h"
#include "daemon/kernel/ending.h"
#include "daemon/kernel/image.h"
#include "daemon/kernel/owner.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/target.h"

#define MAX_EXEC_NS NS_PER_S
#define LOOK_MS 1

enum target_life target_get_life(const struct target *t)
{
	uint32_t word = atomic_load(&t->arena->guest);

	if (word & ARENA_TID_MASK)
		return atomic_load(&t->has_exited) ? TARGET_DEAD : TARGET_ALIVE;
	return word & FUTEX_OWNER_DIED ? TARGET_DEAD : TARGET_STOPPED;
}

static int get_pidfd(const struct target *t)
{
	int pidfd = atomic_load(&t->pidfd);

	return pidfd ? pidfd : -1;
}

static int get_stat(const struct target *t)
{
	return t->stat_fd ? t->stat_fd : -1;
}

int target_find_ending(const struct target *t)
{
	int status = atomic_load(&t->ending) - 1;

	return status >= 0 ? status : ending_find(get_stat(t), get_pidfd(t));
}

int target_has_ended_well(const struct target *t)
{
	return ending_is_clean(t->pid, get_pidfd(t), t->start_ticks);
}

int target_has_become_another(const struct target *t)
{
	return image_is_another(t->pid, get_pidfd(t), t->memfd);
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

int target_is_departing(const struct target *t)
{
	int status;

	return departure_look(get_stat(t), get_pidfd(t), 0, &status) != DEPARTURE_NONE;
}

void target_rehearse_end(struct target *t)
{
	int status;

	target_find_uid(t);
	departure_look(get_stat(t), get_pidfd(t), 0, &status);
}

/* Once it is seen it may be the last moment of one that ends. */
static int is_another(const struct target *t)
{
	return target_has_become_another(t) && target_has_become_another(t);
}

/* Its threads have ended, and it has not: it is in the middle of an exec, or of exit(), and is waiting for a processor. */
static void await_exec(struct target *t, int *status)
{
	int64_t give_up_ns = monotonic_ns() + MAX_EXEC_NS;

	while (!t->is_another && monotonic_ns() < give_up_ns &&
		departure_look(get_stat(t), get_pidfd(t), LOOK_MS, status) != DEPARTURE_OVER)
		t->is_another = is_another(t);
}

void target_look_for_crash(struct target *t, struct target *main)
{
	pid_t tid;

	if (main->crash_fd)
		crash_watch_read(main->crash_fd - 1, &main->crashes);
	tid = crashes_find(&main->crashes, t->pid);
	if (tid)
		atomic_store(&t->signal_tid, tid);
}

/* The flag is set before the first thread ends, and is there until the parent has waited for the process. */
static void look_whose_signal(struct target *t)
{
	target_look_for_crash(t, t);
	exit_note_look_whose(t, get_stat(t));
}

void target_await_end(struct target *t)
{
	int status = -1;

	exit_note_look(t);
	if (target_get_life(t) != TARGET_DEAD || atomic_load(&t->is_departed))
		return;
	target_find_uid(t);
	atomic_store(&t->is_departed, 1);
	look_whose_signal(t);
	if (get_pidfd(t) >= 0 &&
		departure_await(get_stat(t), get_pidfd(t), &status) == DEPARTURE_NONE)
		await_exec(t, &status);
	if (status < 0)
		status = target_find_ending(t);
	if (status >= 0)
		atomic_store(&t->ending, status + 1);
}

void target_set_exited(struct target *t)
{
	atomic_store(&t->has_exited, 1);
	/* The waiter may be just about to sleep; if it is busy it will look. */
	for (int i = 0; i < 1000 && (atomic_load(&t->arena->guest) & ARENA_TID_MASK); i++) {
		if (target_kick(t))
			return;
		usleep(100);
	}
}
