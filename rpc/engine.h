/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops gRPC in this process, silently and with threads that take no signals. */
#ifndef RPC_ENGINE_H
#define RPC_ENGINE_H

#include <grpc/grpc.h>
#include <signal.h>

#include "base/cleanup.h"

/*
 * Each start is paired with a stop; the last stop ends gRPC's threads before it returns. Call both
 * under signals_block().
 */
void engine_start(void);
void engine_stop(void);

/* gRPC 1.62 declares these in grpc_security.h, 1.66 in credentials.h. */
grpc_channel_credentials *grpc_insecure_credentials_create(void);
grpc_server_credentials *grpc_insecure_server_credentials_create(void);

/* Blocks all signals in this thread, so that threads created from it never run a handler. */
sigset_t signals_block(void);
void signals_restore(const sigset_t *old);

#define _signals_blocked_ _cleanup_(signals_restore) __attribute__((unused))

/* Arguments for gRPC's servers and channels. They refer to the values, which are not copied. */
static inline grpc_arg arg_int(const char *key, int value)
{
	grpc_arg arg = {.type = GRPC_ARG_INTEGER, .key = (char *)key};

	arg.value.integer = value;
	return arg;
}

static inline grpc_arg arg_string(const char *key, const char *value)
{
	grpc_arg arg = {.type = GRPC_ARG_STRING, .key = (char *)key};

	arg.value.string = (char *)value;
	return arg;
}

static inline grpc_arg arg_quota(grpc_resource_quota *quota)
{
	grpc_arg arg = {.type = GRPC_ARG_POINTER, .key = (char *)GRPC_ARG_RESOURCE_QUOTA};

	arg.value.pointer.p = quota;
	arg.value.pointer.vtable = grpc_resource_quota_arg_vtable();
	return arg;
}

#endif
