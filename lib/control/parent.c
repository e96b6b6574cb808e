/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children find their parent's server through the environment; see parent.h.
 *
 * setenv() races with every getenv() of other threads, and libc has no lock that both take. So the
 * variable is set only while there is no other thread. It is not removed when the server stops:
 * there may be other threads by then. The socket that it names is gone then, and does not answer.
 */
#include "lib/control/parent.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "lib/wire/arena.h"

/*
 * The value that this process has set, and the value before. A forked child is another process,
 * hence |pid|. Under the guest's lock.
 */
static struct {
	pid_t pid;
	char own[ARENA_SOCKET_BYTES];
	char before[ARENA_SOCKET_BYTES];
} announced;

void parent_describe(struct arena *head)
{
	const char *value = env_get(ENV_PROFTAP_PARENT);

	if (value && announced.pid == getpid() && strcmp(value, announced.own) == 0)
		value = announced.before;
	/* A value that is too long is not a socket. */
	if (value && strlen(value) < sizeof head->parent)
		strcpy(head->parent, value);
}

/*
 * /proc/self/task has a subdirectory for each thread, so the number of its links is that of the
 * threads plus two. This works with every libc; __libc_single_threaded is glibc's, since 2.32.
 */
bool parent_may_be_announced(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) == 0 && st.st_nlink == 2 + 1;
}

/* Signals are blocked because a handler of the program could read the environment. */
static void set_parent_variable(const char *value)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	setenv(env_table[ENV_PROFTAP_PARENT].name, value, 1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void parent_announce(struct arena *arena)
{
	if (!arena->own_socket[0])
		return;
	announced.pid = getpid();
	snprintf(announced.own, sizeof announced.own, "%.*s", (int)sizeof arena->own_socket - 1,
		arena->own_socket);
	memcpy(announced.before, arena->parent, sizeof announced.before);
	announced.before[sizeof announced.before - 1] = '\0';
	set_parent_variable(announced.own);
}
