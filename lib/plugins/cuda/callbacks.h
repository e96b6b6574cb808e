/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI calls, on the program's threads: calls into the driver, nodes of graphs, contexts that go, and that it has ended itself.
 * Nothing here waits (but for synchronizer.h), allocates, or calls CUDA; of CUPTI only what asks for a number.
 */
#ifndef PLUGINS_CUDA_CALLBACKS_H
#define PLUGINS_CUDA_CALLBACKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/plugins/cuda/calls.h"

#define CALLBACKS_MESSAGE_BYTES 256u

struct callbacks {
	struct calls calls;
	_Atomic uint32_t is_dead; /* 1: it is being said, 2: |result| and |message| are filled */
	int result; /* enum cupti_result */
	char message[CALLBACKS_MESSAGE_BYTES];
};

/* For cuptiSubscribe(), with a struct callbacks. */
void callbacks_take(void *state, uint32_t domain, uint32_t callback, const void *information);

/* Turns those on or off that are no calls. */
void callbacks_enable(const struct callbacks *c, void *subscriber, int enable);

/* Whether CUPTI has ended itself: nothing may be asked of it any more. */
static inline int callbacks_is_dead(const struct callbacks *c)
{
	return atomic_load_explicit(&c->is_dead, memory_order_acquire) == 2;
}

#endif
