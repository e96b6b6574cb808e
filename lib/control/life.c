/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's life; see life.h. It is not our child, so nobody tells us of its end but its robust word, and that
 * only once it holds it: it may have been killed at exec. So it is asked in several ways, of which a sandbox permits
 * some. What a program seldom does itself, and a sandbox may kill it for, comes last.
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

int server_has_left(uint32_t owner)
{
	return !(owner & ARENA_TID_MASK) && owner & ARENA_WAITERS;
}

/* Not that of another pid namespace. */
static int proc_is_ours(void)
{
	char pid[16] = "";

	return readlink("/proc/self", pid, sizeof pid - 1) > 0 && atoi(pid) == getpid();
}

enum answer {
	LIVES,
	GONE,
	UNKNOWN,
};

/* A zombie, which kill() finds, is in /proc, and its program is not. */
static enum answer ask_proc(int32_t pid)
{
	char path[32];
	char program;
	int n = snprintf(path, sizeof path, "/proc/%d", (int)pid);

	if (!proc_is_ours() || access(path, F_OK))
		return UNKNOWN;
	strcpy(path + n, "/exe");
	if (readlink(path, &program, 1) >= 0)
		return LIVES;
	return errno == ENOENT ? GONE : UNKNOWN;
}

/* A zombie has no memory to read from. A living process answers EFAULT or, out of reach, EPERM. */
static int has_no_memory(int32_t pid)
{
	char byte;
	struct iovec to = {&byte, 1};
	struct iovec from = {NULL, 1};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && errno == ESRCH;
}

int process_is_gone(int32_t pid)
{
	enum answer answer;

	/* To kill() that would be this process's group. */
	if (!pid)
		return 0;
	if (kill(pid, 0) && errno == ESRCH)
		return 1;
	answer = ask_proc(pid);
	return answer == UNKNOWN ? has_no_memory(pid) : answer == GONE;
}

int server_is_gone(const struct arena *arena, int32_t pid)
{
	return server_has_left(atomic_load(&arena->owner)) || process_is_gone(pid);
}
