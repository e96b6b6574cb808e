/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.health.v1.Health: whether there is a program to record. */
#ifndef DAEMON_HEALTH_H
#define DAEMON_HEALTH_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* Handlers; the context is the struct service. A Watch lives as long as its client and the program do. */
void health_check(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void health_watch(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* The program is gone: the calls of all who watch end. Any thread. */
void health_end(void);

#endif
