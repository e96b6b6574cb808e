/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers of an attached server's calls, and their context, which points to the parts of the
 * server: a handler includes only the headers of the parts that it uses. Other functions take the
 * parts themselves as parameters. The table of methods is service.c.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/calls/health.h"
#include "rpc/server.h"

struct clock_pair;
struct errands;
struct registry;
struct repository;
struct rpc_call;
struct session;
struct status;
struct trace_streams;

/* The parts live as long as the server. */
struct service {
	struct health health; /* first, because it is the context of the probes' handlers */
	struct session *session;
	struct errands *errands; /* their context is this service */
	struct trace_streams *streams;
	struct repository *repository;
	struct registry *registry; /* of children with servers of their own */
	/* The clocks when the server met its program; before that all zero. */
	const struct clock_pair *first_pair;
	/* Fills in the present state of the server; any thread. */
	void (*describe)(struct status *status, void *context);
	void *context; /* of |describe| */
	atomic_bool is_fanning_out; /* a NewSession asks other servers */
};

/* One row per RPC, of all services. */
extern const struct rpc_method service_methods[];
extern const size_t n_service_methods;

/* Handlers; the context of each is a struct service. */

/* analysis.c */
void analysis_enum_sessions(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void analysis_get_data(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void analysis_new_session(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* monitor.c */
void monitor_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* open_spans_call.c */
void open_spans_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* profiler.c */
void profiler_handle_capture(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_start(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_stop(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_status(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void profiler_handle_list(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* stock_calls.c */
void stock_call_profile(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void stock_call_terminate(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void stock_call_start_continuous(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void stock_call_get_snapshot(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
/* The older request has no fields. */
void stock_call_get_old_snapshot(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void stock_call_stop_continuous(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
