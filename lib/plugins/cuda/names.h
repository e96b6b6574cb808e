/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that texts (names of kernels, streams, counters) have in this process's traces. Each
 * text is interned once. Texts are compared by content, not by address: CUPTI's pointers are valid
 * until the records have been read, and are then reused for other texts.
 *
 * Only the collectors' thread uses this. The table stays from capture to capture, because a number
 * is valid for good; its size is limited.
 */
#ifndef PLUGINS_CUDA_NAMES_H
#define PLUGINS_CUDA_NAMES_H

#include <proftap/collector.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX 65536u
#define NAMES_MAX_TEXT_BYTES (16u << 20)

struct name;

struct cuda_names {
	const struct ptap_collector_services *services;
	struct name **slots;
	size_t n_slots; /* a power of two */
	size_t n_used;
	size_t text_bytes;
	/* records of this capture whose names have no number */
	uint64_t n_lost[PTAP_DEVICE_KINDS];
	struct name *recent[1024]; /* the last names found, by pointer */
};

/* Called when a capture begins. */
void cuda_names_begin(struct cuda_names *n, const struct ptap_collector_services *services);

/*
 * The number of |text| (not NULL), the name of a record of |kind|; 0: no room for it, which is
 * counted.
 */
uint32_t cuda_names_find(struct cuda_names *n, enum ptap_device_kind kind, const char *text);

#endif
