/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting at the end of a capture until the devices have done what they were given (ptap_cuda_sync_at_stop): in the primary context of
 * each device, and in those of the program's own that made a call in the capture. On a thread of its own, because a kernel may never
 * end. A context that is being waited for may not be destroyed: who is about to waits, until the capture gives up at the latest.
 */
#ifndef PLUGINS_CUDA_SYNCHRONIZER_H
#define PLUGINS_CUDA_SYNCHRONIZER_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/plugins/cuda/driver.h"

struct ptap_collector_services;

/* More of one capture are not waited for. */
#define SYNCHRONIZER_CONTEXTS 64u

struct synchronizer {
	void *_Atomic contexts[SYNCHRONIZER_CONTEXTS]; /* NULL: nobody's place */
	void *_Atomic current; /* that is being waited for */
	_Atomic int is_running; /* the thread; what follows is its own then */
	struct driver driver;
	int n_devices;
	const struct ptap_collector_services *services;
	int64_t give_up_ns; /* CLOCK_MONOTONIC */
};

/* A capture begins: no context is known. */
void synchronizer_clear(struct synchronizer *s);

/* A context has made a call, or is about to be destroyed. Any thread, in a callback of CUPTI. */
void synchronizer_note(struct synchronizer *s, void *context);
void synchronizer_forget(struct synchronizer *s, void *context);

/*
 * Begins to wait for the first |n_devices|; until |give_up_ns| contexts are kept from being destroyed. 0, -EBUSY when that of an earlier
 * capture has not come back, or what pthread_create() says, negative.
 */
int synchronizer_start(struct synchronizer *s, const struct driver *driver, int n_devices,
	const struct ptap_collector_services *services, int64_t give_up_ns);

static inline int synchronizer_is_running(const struct synchronizer *s)
{
	return atomic_load(&s->is_running);
}

/* In a forked child, which has no such thread. */
void synchronizer_reset(struct synchronizer *s);

#endif
