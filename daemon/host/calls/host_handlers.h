/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of the table in host_calls.c; the context of each is a struct host_service. */
#ifndef DAEMON_HOST_HANDLERS_H
#define DAEMON_HOST_HANDLERS_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* host_profile.c */
void host_profile_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* host_snapshot.c */
void host_snapshot_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
/* The older request has no fields. */
void host_snapshot_handle_old(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* passing.c */
void passing_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* terminating.c */
void terminating_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
