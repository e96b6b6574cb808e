/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of processes; see exit_note.h. */
#include "daemon/target/exit_note.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/kernel/crash_watch.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"

#define STAT_BYTES 1024

static uint64_t exit_note_now(const struct target *t)
{
	return clock_pair_read(atomic_load(&t->arena->clock) == ARENA_CLOCK_TICKS).ticks;
}

/*
 * Notes that |t| has ended by now, unless an end is noted. |clock|, which is |t| or a target of the
 * same family, tells which clock to read.
 */
static void exit_note_ticks(struct target *t, const struct target *clock)
{
	uint64_t none = 0;

	if (!atomic_load(&t->ended_ticks))
		atomic_compare_exchange_strong(&t->ended_ticks, &none, exit_note_now(clock));
}

void exit_note_update(struct target *t)
{
	if (target_get_life(t) == TARGET_DEAD)
		exit_note_ticks(t, t);
}

void exit_note_read_signal(struct target *t, int stat_fd)
{
	char stat[STAT_BYTES];
	int main_crashed = -1;

	if (stat_fd >= 0 && !proc_file_reread(stat_fd, stat, sizeof stat))
		main_crashed = crash_watch_find_main(stat);
	if (main_crashed >= 0)
		atomic_store(&t->is_signal_of_main, main_crashed ? 2 : 1);
}

void exit_note_take(struct target *t, const struct target *main, int pidfd)
{
	int stat_fd;
	int status;

	exit_note_ticks(t, main);
	stat_fd = process_exit_open(t->pid);
	status = exit_status_find(stat_fd, pidfd);
	exit_note_read_signal(t, stat_fd);
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
	return exit_note_find(t, exit_note_now(t));
}

/* Returns the exit status, as in wait(2); -1: unknown. */
static int exit_note_find_status(const struct target *t, uint64_t now_ticks)
{
	return exit_note_find(t, now_ticks) < now_ticks ? atomic_load(&t->ending) - 1 : -1;
}

void exit_note_describe(const struct target *t, uint64_t now_ticks, char *text, size_t size)
{
	char how[64];

	exit_status_describe(exit_note_find_status(t, now_ticks), how, sizeof how);
	/* skip ", " */
	snprintf(text, size, "%s", how[0] ? how + 2 : "");
}

/*
 * Returns true if the kernel dumps core for the signal, and so reports which thread got it:
 * core(5), signal(7).
 */
static bool signal_dumps_core(int number)
{
	static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS,
		SIGTRAP, SIGXCPU, SIGXFSZ};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

int32_t exit_note_find_signal_thread(const struct target *t, uint64_t now_ticks, const char **why)
{
	int status = exit_note_find_status(t, now_ticks);
	pid_t tid = atomic_load(&t->signal_tid);

	*why = "";
	if (status < 0 || !WIFSIGNALED(status))
		return 0;
	*why = "the kernel reported it";
	/*
	 * Ids of another pid namespace cannot be translated any more. If the signal dumps no core,
	 * |tid| comes from the core dump of an earlier process with this pid.
	 */
	if (tid && !t->has_own_tids && signal_dumps_core(WTERMSIG(status)))
		return tid;
	if (atomic_load(&t->is_signal_of_main) == 2 && !t->has_own_tids)
		return t->pid;
	if (!signal_dumps_core(WTERMSIG(status)))
		*why = "the kernel does not report which thread received this signal, which ends "
		       "all threads at once";
	else if (atomic_load(&t->is_signal_of_main) == 2)
		*why = "it was the main thread, whose id in its pid namespace is not known";
	else if (tid || atomic_load(&t->is_signal_of_main) == 1)
		*why = "it was not the main thread; which of the others, the kernel did not tell this server";
	else
		*why = "the kernel did not tell this server";
	return 0;
}

bool exit_note_is_crash(const struct target *t)
{
	int status = atomic_load(&t->ending) - 1;

	return status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) != SIGHUP &&
	       WTERMSIG(status) != SIGINT && WTERMSIG(status) != SIGTERM;
}

bool exit_note_is_kill(const struct target *t, uint64_t now_ticks)
{
	int status = exit_note_find_status(t, now_ticks);

	return status >= 0 && WIFSIGNALED(status);
}
