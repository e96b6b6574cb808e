/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's life; see life.h. The server is not a child of this process, so no wait() reports
 * its end. The server's robust word does, but only once the server holds it: a sandbox may have
 * killed the server at exec. So there are several checks, since a sandbox may permit only some of
 * them. Calls that programs seldom make come last, because a sandbox may kill this process for
 * them.
 */
#include "lib/control/life.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/wire/arena.h"

bool server_has_left(uint32_t owner)
{
	return !(owner & ARENA_TID_MASK) && owner & ARENA_WAITERS;
}

/* Returns whether /proc shows this process's own pid namespace. */
static bool proc_is_ours(void)
{
	char pid[16] = "";

	return readlink("/proc/self", pid, sizeof pid - 1) > 0 && atoi(pid) == getpid();
}

enum life_answer {
	LIFE_LIVES,
	LIFE_GONE,
	LIFE_UNKNOWN,
};

/* kill() succeeds for a zombie. /proc lists a zombie, too, but readlink() of its "exe" fails. */
static enum life_answer ask_proc(int32_t pid)
{
	char path[32];
	char program;
	int n = snprintf(path, sizeof path, "/proc/%d", (int)pid);

	if (!proc_is_ours() || access(path, F_OK))
		return LIFE_UNKNOWN;
	strcpy(path + n, "/exe");
	if (readlink(path, &program, 1) >= 0)
		return LIFE_LIVES;
	return errno == ENOENT ? LIFE_GONE : LIFE_UNKNOWN;
}

/*
 * process_vm_readv() fails with ESRCH for a zombie, which has no memory. For a living process it
 * fails with EFAULT, or with EPERM without the rights.
 */
static bool has_no_memory(int32_t pid)
{
	char byte;
	struct iovec to = {&byte, 1};
	struct iovec from = {NULL, 1};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && errno == ESRCH;
}

bool process_is_gone(int32_t pid)
{
	enum life_answer answer;

	/* kill() would take 0 for the caller's process group. */
	if (!pid)
		return false;
	if (kill(pid, 0) && errno == ESRCH)
		return true;
	answer = ask_proc(pid);
	return answer == LIFE_UNKNOWN ? has_no_memory(pid) : answer == LIFE_GONE;
}

bool server_is_gone(const struct arena *arena, int32_t pid)
{
	return server_has_left(atomic_load(&arena->owner)) || process_is_gone(pid);
}
