/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's clock and CLOCK_MONOTONIC at one moment. CUPTI counts as CLOCK_REALTIME does (and so jumps with it); it is never given a
 * clock of ours, for from CUDA 12.6 update 2 to 13.0 kernels then have no times at all.
 */
#ifndef PLUGINS_CUDA_ANCHOR_H
#define PLUGINS_CUDA_ANCHOR_H

#include <stdint.h>

struct cupti;
struct ptap_collector_services;

struct anchor {
	uint64_t cupti_ns;
	int64_t monotonic_ns;
};

/* Of several readings the narrowest. Returns enum cupti_result. */
int anchor_take(
	const struct cupti *c, const struct ptap_collector_services *services, struct anchor *out);

/* Hands it on; what emit() answers. */
int anchor_emit(const struct anchor *a, const struct ptap_collector_services *services);

/* |monotonic_ns| in CUPTI's clock, as it was at |a|. */
static inline uint64_t anchor_to_cupti_ns(const struct anchor *a, int64_t monotonic_ns)
{
	return a->cupti_ns + (uint64_t)(monotonic_ns - a->monotonic_ns);
}

#endif
