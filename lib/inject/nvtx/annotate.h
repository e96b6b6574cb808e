/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program's events become: push/pop ranges are spans of their thread, ranges that are started and ended are async spans,
 * marks are instants. All are of level 1, as what a user annotates by PTAP_SPAN().
 */
#ifndef INJECT_NVTX_ANNOTATE_H
#define INJECT_NVTX_ANNOTATE_H

#include <stdint.h>

#include "lib/record/guest.h"

struct nvtx_domain;
struct nvtx_event;

/* The recording's word, or 0 while none records level 1. All that an event costs then. */
static inline uint32_t nvtx_get_word(void)
{
	uint32_t word = atomic_load_explicit(&guest_get()->word, memory_order_relaxed);

	return word & 3u ? word : 0;
}

/* |word|: not 0. */
void nvtx_push(struct nvtx_event *e, uint32_t word);
void nvtx_pop(const struct nvtx_domain *domain, uint32_t word);
void nvtx_mark(struct nvtx_event *e, uint32_t word);

/*
 * The number of a range that starts now, recorded or not: it says which string its name is, so that its end can be recorded
 * when its start was not. Never 0.
 */
uint64_t nvtx_start(struct nvtx_event *e);
void nvtx_end(uint64_t range_id, uint32_t word);

#endif
