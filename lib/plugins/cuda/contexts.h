/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps CUPTI's number of a context to its device, and remembers whether the context has made a
 * call. Any thread, without a lock: callbacks look up the context of each call. The newest 1024
 * contexts are kept; others are looked up again in CUPTI.
 */
#ifndef PLUGINS_CUDA_CONTEXTS_H
#define PLUGINS_CUDA_CONTEXTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CONTEXTS_KEPT 1024u
#define CONTEXTS_UNKNOWN UINT32_MAX

struct contexts {
	_Atomic uint64_t kept[CONTEXTS_KEPT]; /* context << 32 | device + 1; 0: none */
	/* number + 1 of a context that has made a call; 0: none */
	_Atomic uint32_t met[CONTEXTS_KEPT];
};

static inline void contexts_clear(struct contexts *c)
{
	for (uint32_t i = 0; i < CONTEXTS_KEPT; i++) {
		atomic_store_explicit(&c->kept[i], 0, memory_order_relaxed);
		atomic_store_explicit(&c->met[i], 0, memory_order_relaxed);
	}
}

static inline bool contexts_is_met(const struct contexts *c, uint32_t context)
{
	return atomic_load_explicit(&c->met[context % CONTEXTS_KEPT], memory_order_relaxed) ==
	       context + 1;
}

static inline void contexts_meet(struct contexts *c, uint32_t context)
{
	atomic_store_explicit(&c->met[context % CONTEXTS_KEPT], context + 1, memory_order_relaxed);
}

static inline void contexts_note(struct contexts *c, uint32_t context, uint32_t device)
{
	atomic_store_explicit(&c->kept[context % CONTEXTS_KEPT],
		(uint64_t)context << 32 | (uint64_t)(device + 1), memory_order_relaxed);
}

/* The context's device, or CONTEXTS_UNKNOWN. */
static inline uint32_t contexts_find(const struct contexts *c, uint32_t context)
{
	uint64_t kept =
		atomic_load_explicit(&c->kept[context % CONTEXTS_KEPT], memory_order_relaxed);

	return kept && kept >> 32 == context ? (uint32_t)kept - 1 : CONTEXTS_UNKNOWN;
}

#endif
