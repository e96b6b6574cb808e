/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments for gRPC's servers and channels. They refer to the values, which are not copied. */
#ifndef RPC_ARG_H
#define RPC_ARG_H

#include <grpc/grpc.h>

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
