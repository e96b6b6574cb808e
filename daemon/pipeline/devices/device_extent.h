/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the time of the first record of each process's collectors, in raw slots. The begin of a
 * trace must be known before its lines are made, and records that collectors hand on late can be
 * older than all others.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_DEVICE_EXTENT_H
#define DAEMON_DEVICE_EXTENT_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_clock.h"
#include "daemon/pipeline/devices/devices.h"

struct slot;

/* The extent of one process. */
struct device_extent {
	size_t process; /* the caller's number of the process */
	struct device_clock clocks[DEVICES_MAX_COLLECTORS];
	/* in the collector's clock; UINT64_MAX: there is no record */
	uint64_t first_ns[DEVICES_MAX_COLLECTORS];
};

/* All zero is the empty state. */
struct device_extents {
	struct device_extent *v;
	size_t n;
	size_t n_allocated;
};

/* Empties |x|. */
void device_extents_deinit(struct device_extents *x);
/*
 * Adds |slots| of a thread of |process|; the first one must begin an entry. Ignores threads that
 * are not the collectors'. 0 or -ENOMEM.
 */
int device_extents_add(
	struct device_extents *x, size_t process, const struct slot *slots, size_t n_slots);
/* Adds the extents of |other|. 0 or -ENOMEM. */
int device_extents_join(struct device_extents *x, const struct device_extents *other);
/*
 * The process's CLOCK_MONOTONIC at the first record whose time can be converted; INT64_MAX: there
 * is none.
 */
int64_t device_extent_find_first(const struct device_extent *e);

#endif
