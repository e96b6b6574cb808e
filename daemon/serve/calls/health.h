/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.health.v1.Health, which reports whether there is a program to record. */
#ifndef DAEMON_HEALTH_H
#define DAEMON_HEALTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpc_call;
struct session;

#define HEALTH_MAX_WATCHERS 64

struct health {
	const struct session *session; /* NULL: a host daemon, which always serves */
	pthread_mutex_t mutex;
	struct rpc_call *watchers[HEALTH_MAX_WATCHERS]; /* under mutex */
	size_t n_watchers; /* under mutex */
	bool has_ended; /* under mutex */
};

void health_init(struct health *h, const struct session *session);

/*
 * Handlers; the context is a struct health. A Watch ends when its client goes away, or with the
 * program.
 */
void health_check(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void health_watch(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/*
 * Ends all Watch calls, also those that come later, because the program is gone. Any thread may
 * call it.
 */
void health_end(struct health *h);

#endif
