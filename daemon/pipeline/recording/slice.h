/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session drained in a row, of all its processes: in memory, and after that in a file without a name, raw. Who drains
 * does not wait for that: a thread writes it.
 *
 * Threads: all functions from one at a time.
 */
#ifndef DAEMON_SLICE_H
#define DAEMON_SLICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_extent.h"

struct drain;

struct slice {
	struct slice *next;
	struct drain *
		drains; /* a part of each source's, in their order; the writer's while there is one */
	size_t n_drains;
	uint64_t n_bytes; /* set by whoever makes it, like the two below */
	int64_t from_ns; /* CLOCK_MONOTONIC */
	uint64_t earliest_ticks; /* as a recording's */
	/* Its file. */
	int fd; /* -1: there is none */
	uint64_t first_ticks; /* of its records */
	struct device_extents devices; /* of its records, by the numbers of drains */
	bool has_failed; /* it stays in memory */
	pthread_t writer;
	bool has_writer;
	_Atomic bool is_written;
};

/* Room for |n_drains|. NULL: no memory. */
struct slice *slice_new(size_t n_drains);
/* Waits for its writer; its drains have been initialised. Returns NULL. */
struct slice *slice_free(struct slice *slice);

/* Begins to write it to a file; then its memory goes. Where that cannot be done it stays as it is. */
void slice_store(struct slice *slice);
/* Whether it is being written; whether it takes memory. */
bool slice_is_busy(const struct slice *slice);
bool slice_is_in_memory(const struct slice *slice);

/* The ticks of the first record, or |first| if that is earlier. Waits for the writer. */
uint64_t slice_find_first(struct slice *slice, uint64_t earliest_ticks, uint64_t first);
/* What it has of devices is added to |to|, by the numbers of drains. Waits for the writer. 0 or -ENOMEM. */
int slice_find_devices(struct slice *slice, struct device_extents *to);
/* How many slots its logs have, wherever they are. */
uint64_t slice_count(const struct drain *d);
/* And how many entries these are. */
uint64_t slice_count_entries(const struct drain *d);
/* In memory it is, again. Waits for the writer. 0, or a negative errno: what cannot be read back is counted as lost. */
int slice_load(struct slice *slice);

#endif
