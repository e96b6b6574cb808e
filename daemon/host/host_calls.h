/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that the host daemon's port serves. The context is a struct host_service. */
#ifndef DAEMON_HOST_CALLS_H
#define DAEMON_HOST_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/calls/service.h"

struct caller;
struct machine;
struct programs;
struct rpc_call;
struct rpc_method;

struct host_service {
	struct service
		service; /* the first: what the handlers of all servers know; it has no session */
	struct programs *programs;
	struct machine *machine; /* what it uses; NULL only when memory ran out */
	const char *operators; /* as in caller_identify() */
	const char *log_dir; /* the setting: where captures go that are asked for by HTTP */
};

/* Who asks: 0, or the call has been answered. */
int host_identify(struct rpc_call *call, const struct host_service *h, struct caller *caller);

extern const struct rpc_method host_methods[];
extern const size_t n_host_methods;

#endif
