/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds or makes the plane of a device in a space that may have planes of other processes already,
 * and adds the facts about the device.
 */
#ifndef DAEMON_DEVICE_PLANE_H
#define DAEMON_DEVICE_PLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/space.h"

struct device_drawing;
struct plane;
struct space;

#define DEVICE_PLANE_PREFIX PLANE_DEVICE
/* Plane stat: which device it is, as "GPU-01234567-89ab-cdef-0123-456789abcdef". */
#define DEVICE_PLANE_UUID "ptap_device_uuid"
/* The largest first_id. */
#define DEVICE_PLANE_MAX_FIRST_ID 1000

struct device_plane {
	struct plane *plane; /* belongs to the space */
	bool is_shared; /* the plane has lines of another process */
	int64_t first_id; /* the line id of stream 0 */
	/* The rest is used while its lines are labelled. */
	bool has_streams;
	uint64_t last_stream; /* valid with has_streams */
	bool is_moved; /* the last stream got another id than its own */
};

/*
 * Opens the plane of the device |ordinal| of |g|'s process: the existing one of the same device, or
 * a new one. If the plane of another device has that number, the new plane gets the first free one.
 * |n_streams| is the number of lines for streams that the plane will have. 0 or -ENOMEM.
 */
int device_plane_open(struct device_plane *p, struct device_drawing *g, unsigned collector,
	unsigned ordinal, size_t n_streams, struct space *space);
/*
 * Replaces the plane of a device in |p|, which device_plane_open() opened for the same |g|, by the
 * plane beside it (trace/model/space.h). Adds that plane if it does not exist yet. 0 or -ENOMEM.
 */
int device_plane_open_beside(struct device_plane *p, struct device_drawing *g, unsigned collector,
	unsigned ordinal, struct space *space);

#endif
