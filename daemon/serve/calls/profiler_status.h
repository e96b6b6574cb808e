/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of proftap.v1.Profiler that only ask; rows of service.c. The context is a struct service. */
#ifndef DAEMON_PROFILER_STATUS_H
#define DAEMON_PROFILER_STATUS_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

void profiler_handle_status(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void profiler_handle_list(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

#endif
