/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's life in this process; see engine.h. */
#include "rpc/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grpc/grpc.h>

#include "rpc/server.h"

/* A strategy that the user has set is kept. */
void rpc_poll_by_thread(void)
{
	setenv("GRPC_POLL_STRATEGY", "poll", 0);
}

/*
 * These choose what rpc/ relies on, and gRPC reads them once, in the first grpc_init(). An unknown
 * experiment is only logged, that is, ignored.
 */
static char *settings[] = {
	/* By default gRPC writes to standard error, which belongs to the user. */
	"GRPC_VERBOSITY=NONE",
	/*
	 * Without this, gRPC 1.73 and later read and write adopted connections with threads of
	 * their own, and do not call them "fd:N".
	 */
	"GRPC_EXPERIMENTS=-event_engine_for_all_other_endpoints",
};

/* Returns the environment with |settings| in front, where getenv() finds them first. */
static char **settings_join_environment(void)
{
	const size_t n_settings = sizeof settings / sizeof settings[0];
	char **joined;
	size_t n = 0;

	while (environ && environ[n])
		n++;
	joined = calloc(n_settings + n + 1, sizeof *joined);
	if (!joined)
		return NULL;
	memcpy(joined, settings, sizeof settings);
	if (n)
		memcpy(joined + n_settings, environ, n * sizeof *joined);
	return joined;
}

/*
 * The first start lends gRPC an environment. The programs that we start must not inherit it, and
 * setenv() could free strings that another thread is reading, so the whole array is exchanged, and
 * it is never freed. Without memory, gRPC starts with the user's settings.
 */
void engine_start(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char **joined;
	char **old;

	pthread_mutex_lock(&lock);
	old = environ;
	if (!joined && (joined = settings_join_environment()))
		environ = joined;
	grpc_init();
	environ = old;
	pthread_mutex_unlock(&lock);
}

void engine_stop(void)
{
	grpc_shutdown();
}

sigset_t signals_block(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	return old;
}

void signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}
