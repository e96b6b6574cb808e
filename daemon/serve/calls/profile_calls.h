/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile and Terminate of tensorflow.ProfilerService; rows of service.c. The context is a struct
 * service.
 */
#ifndef DAEMON_PROFILE_CALLS_H
#define DAEMON_PROFILE_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct rpc_call;
struct service;
struct session_request;

void profile_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void profile_call_handle_terminate(
	struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

/*
 * Decodes a ProfileRequest, or answers the call with an error. Owner: *out belongs to the caller,
 * its |call| set. 0 or -1.
 */
int profile_call_decode(
	struct rpc_call *call, const uint8_t *bytes, size_t n, struct session_request **out);

#endif
