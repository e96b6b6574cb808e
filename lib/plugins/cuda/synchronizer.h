/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits at the end of a capture until the devices have done their work (ptap_cuda_sync_at_stop): in
 * the primary context of each device, and in the program's own contexts that made a call in the
 * capture. It has a thread of its own, because a kernel may never end. A context that is being
 * waited for must not be destroyed: the thread that destroys it waits, at the latest until the
 * capture gives up.
 */
#ifndef PLUGINS_CUDA_SYNCHRONIZER_H
#define PLUGINS_CUDA_SYNCHRONIZER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/plugins/cuda/driver.h"

struct ptap_collector_services;

/* Further contexts of a capture are not waited for. */
#define SYNCHRONIZER_CONTEXTS 64u

struct synchronizer {
	void *_Atomic contexts[SYNCHRONIZER_CONTEXTS]; /* NULL: a free place */
	void *_Atomic current; /* the context that is being waited for */
	_Atomic int is_running; /* the thread runs, and owns the following fields */
	struct driver driver;
	int n_devices;
	const struct ptap_collector_services *services;
	int64_t give_up_ns; /* CLOCK_MONOTONIC */
};

/* Called when a capture begins: no context is known. */
void synchronizer_clear(struct synchronizer *s);

/*
 * Notes a context that has made a call, or forgets one that is about to be destroyed. Any thread,
 * in a callback of CUPTI.
 */
void synchronizer_note(struct synchronizer *s, void *context);
void synchronizer_forget(struct synchronizer *s, void *context);

/*
 * Begins to wait for the noted contexts and the first |n_devices| devices. From |give_up_ns| on, a
 * context that is being waited for may be destroyed. 0; -EBUSY: the wait of an earlier capture has
 * not returned; or the negative error of pthread_create().
 */
int synchronizer_start(struct synchronizer *s, const struct driver *driver, int n_devices,
	const struct ptap_collector_services *services, int64_t give_up_ns);

static inline bool synchronizer_is_running(const struct synchronizer *s)
{
	return atomic_load(&s->is_running);
}

/* Called in a forked child, which has no such thread. */
void synchronizer_reset(struct synchronizer *s);

#endif
