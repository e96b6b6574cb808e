/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that texts (names of kernels, streams, counters) have in this process's traces, each asked for once. They are known by
 * what they say, not by where they lie: CUPTI's pointers hold until the records have been read, and are used again for others.
 *
 * Of the thread of collectors only. It stays from capture to capture, for what has a number has it for good; it is bounded.
 */
#ifndef PLUGINS_CUDA_NAMES_H
#define PLUGINS_CUDA_NAMES_H

#include <proftap/collector.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX 65536u
#define NAMES_MAX_TEXT_BYTES (16u << 20)

struct name;

struct names {
	const struct ptap_collector_services *services;
	struct name **slots;
	size_t n_slots; /* a power of two */
	size_t n_used;
	size_t text_bytes;
	/* in this capture: records whose names have no number */
	uint64_t n_lost[PTAP_DEVICE_KINDS];
	struct name *recent[1024]; /* found last, by pointer */
};

/* A capture begins. */
void names_begin(struct names *n, const struct ptap_collector_services *services);

/* The number of |text| (not NULL), the name of a record of that kind; 0: there is no room for it, which is counted. */
uint32_t names_find(struct names *n, enum ptap_device_kind kind, const char *text);

void names_deinit(struct names *n);

#endif
