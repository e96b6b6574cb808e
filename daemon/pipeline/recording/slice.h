/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice has the raw records that a session drained from all its processes during one stretch of
 * time: first in memory, then in an unlinked file. A separate thread writes the file, so that the
 * drain does not wait.
 *
 * Threads: one thread at a time calls these functions.
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
	/* a part of each source's drain, in their order; the writer owns them while it runs */
	struct drain *drains;
	size_t n_drains;
	uint64_t n_bytes; /* slice_off_records() sets it and the two below */
	int64_t from_ns; /* CLOCK_MONOTONIC */
	uint64_t earliest_ticks; /* as in struct recording */
	int fd; /* its file; -1: there is none */
	uint64_t first_ticks; /* the first time of its records */
	struct device_extents devices; /* times of its devices' records, by the numbers of drains */
	bool has_failed; /* it could not be written, and stays in memory */
	pthread_t writer;
	bool has_writer;
	_Atomic bool is_written;
};

/* Makes a slice with room for |n_drains|. NULL when memory ran out. */
struct slice *slice_new(size_t n_drains);
/* Waits for its writer. Its drains must have been initialised. Returns NULL. */
struct slice *slice_free(struct slice *slice);

/*
 * Begins to write the slice to a file, which frees its memory. On failure the
 * slice stays in memory.
 */
void slice_store(struct slice *slice);
/* True while the slice is being written; true while its records are in memory. */
bool slice_is_busy(const struct slice *slice);
bool slice_is_in_memory(const struct slice *slice);

/* The ticks of the first record, or |first| if that is earlier. Waits for the writer. */
uint64_t slice_find_first(struct slice *slice, uint64_t earliest_ticks, uint64_t first);
/*
 * Adds the times of its devices' records to |to|, by the numbers of drains. Waits for the writer. 0
 * or -ENOMEM.
 */
int slice_find_devices(struct slice *slice, struct device_extents *to);
/* The number of slots of the logs of |d|, in memory or in the file. */
uint64_t slice_count(const struct drain *d);
/* The number of entries in all slots of |d|. */
uint64_t slice_count_entries(const struct drain *d);
/*
 * Reads the slice back into memory. Waits for the writer. 0, or a negative errno: all records of
 * the slice are counted as lost.
 */
int slice_load(struct slice *slice);

#endif
