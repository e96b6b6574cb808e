/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile of tensorflow.ProfilerService at the host daemon: of all programs that it means (call_target.h), at one instant, in one answer
 * (stock_answer.h).
 */
#ifndef DAEMON_HOST_PROFILE_H
#define DAEMON_HOST_PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* A row of the table of methods. The context is a struct host_service. */
void host_profile_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
