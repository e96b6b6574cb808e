/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of processes; see exit_note.h. */
#include "daemon/target/exit_note.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/kernel/departure.h"
#include "daemon/kernel/ending.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"

static uint64_t now(const struct target *t)
{
	return clock_pair_read(atomic_load(&t->arena->clock) == ARENA_CLOCK_TICKS).ticks;
}

/* By the clock of |clock|, which is |t| or of its family. */
static void note_ticks(struct target *t, const struct target *clock)
{
	uint64_t none = 0;

	if (!atomic_load(&t->ended_ticks))
		atomic_compare_exchange_strong(&t->ended_ticks, &none, now(clock));
}

void exit_note_look(struct target *t)
{
	if (target_get_life(t) == TARGET_DEAD)
		note_ticks(t, t);
}

void exit_note_take(struct target *t, const struct target *main, int pidfd)
{
	int stat_fd;
	int status;

	note_ticks(t, main);
	stat_fd = departure_open(t->pid);
	status = ending_find(stat_fd, pidfd);
	if (stat_fd >= 0)
		close(stat_fd);
	if (status >= 0)
		atomic_store(&t->ending, status + 1);
}

uint64_t exit_note_find(const struct target *t, uint64_t now_ticks)
{
	uint64_t ended = atomic_load(&t->ended_ticks);

	return ended && ended < now_ticks ? ended : now_ticks;
}

uint64_t exit_note_find_thread(const struct target *t)
{
	return exit_note_find(t, now(t));
}

/* As wait(2) gives it; -1: not known. */
static int find_status(const struct target *t, uint64_t now_ticks)
{
	return exit_note_find(t, now_ticks) < now_ticks ? atomic_load(&t->ending) - 1 : -1;
}

void exit_note_describe(const struct target *t, uint64_t now_ticks, char *text, size_t size)
{
	char how[64];

	ending_describe(find_status(t, now_ticks), how, sizeof how);
	/* Behind ", ". */
	snprintf(text, size, "%s", how[0] ? how + 2 : "");
}

int exit_note_is_kill(const struct target *t, uint64_t now_ticks)
{
	int status = find_status(t, now_ticks);

	return status >= 0 && WIFSIGNALED(status);
}
