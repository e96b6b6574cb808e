/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far back it goes what collectors tell of the devices of some processes, from raw slots: where a trace begins must be known
 * before anything is drawn, and what they hand on late can be from before all else in it.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_DEVICE_EXTENT_H
#define DAEMON_DEVICE_EXTENT_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_clock.h"
#include "daemon/pipeline/devices/devices.h"

struct slot;

/* Of one process. */
struct device_extent {
	size_t process; /* whatever the caller numbers */
	struct device_clock clocks[DEVICES_MAX_COLLECTORS];
	uint64_t first_ns
		[DEVICES_MAX_COLLECTORS]; /* in the collector's clock; UINT64_MAX: nothing happened */
};

/* All zero is the empty state. */
struct device_extents {
	struct device_extent *v;
	size_t n;
	size_t n_allocated;
};

/* Empties it. */
void device_extents_deinit(struct device_extents *x);
/* What one thread of |process| wrote, from its first entry on; nothing where that thread is not the collectors'. 0 or -ENOMEM. */
int device_extents_add(
	struct device_extents *x, size_t process, const struct slot *slots, size_t n_slots);
/* What |other| has, too. 0 or -ENOMEM. */
int device_extents_join(struct device_extents *x, const struct device_extents *other);
/* The process's CLOCK_MONOTONIC where the first begins that can be placed; INT64_MAX: there is none. */
int64_t device_extent_find_first(const struct device_extent *e);

#endif
