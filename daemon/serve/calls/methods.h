/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of methods, and rows of the method table that an attached server and a host daemon share.
 */
#ifndef DAEMON_METHODS_H
#define DAEMON_METHODS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/calls/health.h"
#include "rpc/server.h"

/* Size limit of a request. Real requests are far smaller. */
#define METHODS_MAX_REQUEST_BYTES (4u << 20)

/* The paths of a service's methods begin with its name. */
#define METHODS_PROFILER "/tensorflow.ProfilerService/"
#define METHODS_V1 "/proftap.v1.Profiler/"

/*
 * Answers one ServerReflectionRequest of grpc.reflection.v1 or v1alpha, by which tools like grpcurl
 * list the services and learn their messages. |context| is not used. See reflection.c.
 */
void reflection_answer(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/*
 * Rows of the method table for the calls of health probes and of tools like grpcurl. The
 * handlers' context must begin with a struct health.
 */
#define METHODS_OF_PROBES                                                                     \
	{"/grpc.health.v1.Health/Check", METHODS_MAX_REQUEST_BYTES, health_check, RPC_UNARY}, \
		{"/grpc.health.v1.Health/Watch", METHODS_MAX_REQUEST_BYTES, health_watch,     \
			RPC_SERVER_STREAM},                                                   \
		{"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",                 \
			METHODS_MAX_REQUEST_BYTES, reflection_answer, RPC_BIDI},              \
	{                                                                                     \
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",             \
			METHODS_MAX_REQUEST_BYTES, reflection_answer, RPC_BIDI                \
	}

#endif
