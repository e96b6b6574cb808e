/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that CUPTI has for a tool in a process, and the callbacks of that tool. The
 * subscriber has all of CUPTI; any other tool must not call it, because kinds of activity and
 * buffers are the whole process's, and would be taken from the subscriber.
 *
 * CUPTI makes the callbacks on the program's threads: for calls into the driver, nodes of graphs,
 * destroyed contexts, and its own end. A callback does not wait (except for synchronizer.h),
 * allocate, or call CUDA; of CUPTI it calls only functions that find the number of a
 * device, graph or node.
 */
#ifndef PLUGINS_CUDA_SUBSCRIBER_H
#define PLUGINS_CUDA_SUBSCRIBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/plugins/cuda/calls.h"

struct cupti;
struct result_context;

#define CALLBACKS_MESSAGE_BYTES 256u

struct callbacks {
	struct calls calls;
	_Atomic uint32_t is_dead; /* 1: the fields below are being filled, 2: they are filled */
	int result; /* enum cupti_result */
	char message[CALLBACKS_MESSAGE_BYTES];
};

/* Enables or disables the callbacks that are not calls. */
void callbacks_enable(const struct callbacks *c, void *subscriber, bool enable);

/* Returns true if CUPTI has ended itself: it must not be called any more. */
static inline bool callbacks_is_dead(const struct callbacks *c)
{
	return atomic_load_explicit(&c->is_dead, memory_order_acquire) == 2;
}

struct subscriber {
	const struct cupti *cupti;
	void *handle; /* NULL: not subscribed */
};

/*
 * Subscribes. 0, also when it has subscribed already; -EBUSY with |why|: another tool has; or
 * another negative errno with |why|.
 */
int subscriber_open(struct subscriber *s, const struct result_context *context,
	struct callbacks *callbacks, char *why);
void subscriber_close(struct subscriber *s);

#endif
