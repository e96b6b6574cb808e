/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops gRPC in this process, silently and with threads that take no signals. */
#ifndef RPC_ENGINE_H
#define RPC_ENGINE_H

#include <signal.h>

#include "base/cleanup.h"

/*
 * Each start is paired with a stop; the last stop ends gRPC's threads before it returns. Call both
 * under signals_block().
 */
void engine_start(void);
void engine_stop(void);

/* Blocks all signals in this thread, so that threads created from it never run a handler. */
sigset_t signals_block(void);
void signals_restore(const sigset_t *old);

#define _signals_blocked_ _cleanup_(signals_restore) __attribute__((unused))

#endif
