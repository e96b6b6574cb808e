/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's life in this process; see engine.h. */
#include "rpc/engine.h"

#include <pthread.h>
#include <stdlib.h>

#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include "rpc/server.h"

/* By default gRPC writes to standard error, which belongs to the user. */
static void drop_message(gpr_log_func_args *args)
{
	(void)args;
}

/* A strategy that the user has set is kept. */
void rpc_poll_by_thread(void)
{
	setenv("GRPC_POLL_STRATEGY", "poll", 0);
}

void engine_start(void)
{
	gpr_set_log_function(drop_message);
	grpc_init();
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
