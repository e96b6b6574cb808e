/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods that this server's port serves: a table for each group of them, and what their handlers know of. Each group
 * is a file (profile_calls.h and so on): requests in, sessions started, errors in words.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <stdatomic.h>
#include <stddef.h>

#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/health.h"
#include "daemon/serve/calls/reflection.h"
#include "daemon/serve/children/registry.h"
#include "daemon/serve/message/stream_place.h"
#include "daemon/serve/session/repository.h"
#include "daemon/target/timeline.h"
#include "rpc/server.h"

struct session;
struct status;

/* Requests are small. */
#define SERVICE_MAX_REQUEST_BYTES (4u << 20)

/* What services' methods begin with. */
#define SERVICE_PROFILER "/tensorflow.ProfilerService/"
#define SERVICE_V1 "/proftap.v1.Profiler/"

/* Rows of a table: what probes and tools ask of every server, attached or of a host. */
#define SERVICE_PROBES                                                                        \
	{"/grpc.health.v1.Health/Check", SERVICE_MAX_REQUEST_BYTES, health_check, RPC_UNARY}, \
		{"/grpc.health.v1.Health/Watch", SERVICE_MAX_REQUEST_BYTES, health_watch,     \
			RPC_SERVER_STREAM},                                                   \
		{"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",                 \
			SERVICE_MAX_REQUEST_BYTES, reflection_answer, RPC_BIDI},              \
	{                                                                                     \
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",             \
			SERVICE_MAX_REQUEST_BYTES, reflection_answer, RPC_BIDI                \
	}

/* The context of each handler. */
struct service {
	struct session *session;
	struct errands errands;
	struct health health;
	void (*describe)(struct status *status, void *context); /* the server, now; any thread */
	void *context; /* of |describe| */
	struct trace_streams streams;
	atomic_int is_fanning_out; /* a NewSession asks other servers */
	struct repository repository;
	struct clock_pair
		first_pair; /* of clocks, when the server met its program; before that 0 */
	struct registry registry; /* of children with servers of their own */
};

/* One row per RPC, of all groups. */
extern const struct rpc_method service_methods[];
extern const size_t n_service_methods;

#endif
