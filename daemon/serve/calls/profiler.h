/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of proftap.v1.Profiler that record; rows of service.c. The context is a struct service. */
#ifndef DAEMON_PROFILER_H
#define DAEMON_PROFILER_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

void profiler_handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void profiler_handle_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void profiler_handle_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void profiler_handle_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

#endif
