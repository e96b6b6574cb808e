/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminate of tensorflow.ProfilerService at the host daemon: it says a session, and no program, so all that it can mean
 * (call_target.h) are told. As everywhere the answer is OK, also for a session that nobody knows.
 */
#ifndef DAEMON_TERMINATING_H
#define DAEMON_TERMINATING_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* A row of the table of methods. The context is a struct host_service. */
void terminating_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
