/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that texts (names of kernels, streams, counters) have in this process's traces, each asked for once. They are known by
 * what they say, not by where they lie: CUPTI's pointers hold until the records have been read, and are used again for others.
 *
 * Of the thread of collectors only. It stays from capture to capture, for what has a number has it for good; it is bounded.
 */
#ifndef PLUGINS_CUDA_NAMES_H
#define PLUGINS_CUDA_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct ptap_collector_services;

#define NAMES_MAX 65536u
#define NAMES_MAX_TEXT_BYTES (16u << 20)

struct name;

struct names {
	const struct ptap_collector_services *services;
	struct name **slots;
	size_t n_slots; /* a power of two */
	size_t n_used;
	size_t text_bytes;
	uint32_t capture; /* number of this one */
	uint64_t n_in_capture; /* different ones */
	uint64_t max_in_capture;
	uint64_t n_lost; /* in this capture: uses of a name that has no number */
	struct name *recent[1024]; /* found last, by pointer */
};

/* A capture begins, in which at most |max| different ones get their number. */
void names_begin(struct names *n, const struct ptap_collector_services *services, uint64_t max);

/* The number of |text| (not NULL); 0: it gets none, which is counted. */
uint32_t names_find(struct names *n, const char *text);

void names_deinit(struct names *n);

#endif
