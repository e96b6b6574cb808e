/* SPDX-License-Identifier: Apache-2.0 */
/* tensorflow.ProfilerService on top of a session: requests in, sessions started, errors in words. */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <stddef.h>

#include "rpc/server.h"

/* One row per RPC; the context of each handler is the struct session. */
extern const struct rpc_method service_methods[];
extern const size_t n_service_methods;

#endif
