/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of the table in service.c; the context of each is a struct service. Others are in analysis.h and
 * profile_calls.h, with functions that several groups share.
 */
#ifndef DAEMON_SERVICE_HANDLERS_H
#define DAEMON_SERVICE_HANDLERS_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* continuous_calls.c */
void continuous_call_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void continuous_call_get_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
/* The older request has no fields. */
void continuous_call_get_old_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void continuous_call_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* monitor.c */
void monitor_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* new_session.c */
void new_session_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* open_spans_call.c */
void open_spans_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* profiler.c */
void profiler_handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* profiler_status.c */
void profiler_handle_status(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_list(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
