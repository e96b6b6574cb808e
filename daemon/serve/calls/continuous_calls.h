/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StartContinuousProfiling, GetSnapshot and StopContinuousProfiling of tensorflow.ProfilerService, under their older names
 * too, with the stock server's codes and texts; rows of service.c. The context is a struct service.
 */
#ifndef DAEMON_CONTINUOUS_CALLS_H
#define DAEMON_CONTINUOUS_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

void continuous_call_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void continuous_call_get_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
/* The older request has no fields. */
void continuous_call_get_old_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void continuous_call_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

#endif
