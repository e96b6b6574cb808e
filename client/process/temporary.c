/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files; see temporary.h. The handler may run in any thread, at any time: what it reads is never freed. */
#include "client/process/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct temporary {
	struct temporary *next;
	_Atomic bool is_there;
	char path[];
};

static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define N_SIGNALS (sizeof signals / sizeof signals[0])

static struct temporary *_Atomic first;

static void remove_all(int number)
{
	for (struct temporary *t = atomic_load(&first); t; t = t->next)
		if (atomic_load(&t->is_there))
			unlink(t->path);
	/* Ends the program when this has returned: SA_RESETHAND. */
	raise(number);
}

static void collect(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(set, signals[i]);
}

/* Of those that would end the program. */
static void catch_signals(const sigset_t *set)
{
	struct sigaction action = {.sa_handler = remove_all, .sa_flags = SA_RESETHAND};
	struct sigaction old;

	action.sa_mask = *set;
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

static struct temporary *new_temporary(const char *path)
{
	size_t n = strlen(path) + 1;
	struct temporary *t = malloc(sizeof *t + n);

	if (!t)
		return NULL;
	memcpy(t->path, path, n);
	atomic_init(&t->is_there, true);
	return t;
}

static void add(struct temporary *t)
{
	t->next = atomic_load(&first);
	while (!atomic_compare_exchange_weak(&first, &t->next, t))
		continue;
}

int temporary_create(const char *path, struct temporary **out)
{
	struct temporary *t = new_temporary(path);
	sigset_t set, before;
	int fd;

	if (!t)
		return -ENOMEM;
	collect(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		fd = -errno;
		free(t);
	} else {
		add(t);
		catch_signals(&set);
		*out = t;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

void temporary_forget(struct temporary *t)
{
	if (t)
		atomic_store(&t->is_there, false);
}
