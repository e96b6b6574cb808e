/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that the host daemon's port serves. The context is a struct host_service. */
#ifndef DAEMON_HOST_CALLS_H
#define DAEMON_HOST_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/calls/service.h"

struct programs;
struct rpc_method;

struct host_service {
	struct service
		service; /* the first: what the handlers of all servers know; it has no session */
	struct programs *programs;
	const char *operators; /* as in caller_identify() */
	int64_t since_ns; /* Unix time */
};

extern const struct rpc_method host_methods[];
extern const size_t n_host_methods;

#endif
