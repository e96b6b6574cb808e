/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.health.v1.Health: whether there is a program to record. */
#ifndef DAEMON_HEALTH_H
#define DAEMON_HEALTH_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_call;

#define HEALTH_MAX_WATCHERS 64

/* Those that wait for news. */
struct health {
	pthread_mutex_t mutex;
	struct rpc_call *watchers[HEALTH_MAX_WATCHERS]; /* under mutex */
	size_t n_watchers; /* under mutex */
	int has_ended; /* under mutex */
};

void health_init(struct health *h);

/* Handlers; the context is the struct service. A Watch lives as long as its client and the program do. */
void health_check(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void health_watch(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* The program is gone: the calls of all who watch end, and of who begins to. Any thread. */
void health_end(struct health *h);

#endif
