/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plane of a device: which one it is among those of a space that may have other processes' already, and what is known of the
 * device.
 */
#ifndef DAEMON_DEVICE_PLANE_H
#define DAEMON_DEVICE_PLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/device_name.h"

struct device_drawing;
struct plane;
struct space;

#define DEVICE_PLANE_PREFIX PLANE_DEVICE
/* Plane stat: which device it is, as "GPU-01234567-89ab-cdef-0123-456789abcdef". */
#define DEVICE_PLANE_UUID "ptap_device_uuid"
/* At most. */
#define DEVICE_PLANE_MAX_FIRST_ID 1000

struct device_plane {
	struct plane *plane; /* the space's */
	bool is_shared; /* it has lines of another process */
	int64_t first_id; /* of streams: that of stream 0 */
	/* While its lines are labelled: */
	bool has_streams;
	uint64_t last_stream; /* with has_streams */
	bool is_moved; /* the last stream, to another id than its own */
};

/*
 * That of the device |ordinal| of |g|'s process: one that is there already, of the same device, or a new one. Of another device that
 * another process calls by the same number it is one with the next free number. |n_streams|: how many lines it will have. 0 or
 * -ENOMEM.
 */
int device_plane_open(struct device_plane *p, struct device_drawing *g, unsigned collector,
	unsigned ordinal, size_t n_streams, struct space *space);
/*
 * Goes from the plane of a device, which device_plane_open() opened for the same |g|, to the one
 * beside it (trace/model/device_name.h), and adds that one if it does not exist yet. 0 or -ENOMEM.
 */
int device_plane_open_beside(struct device_plane *p, struct device_drawing *g, unsigned collector,
	unsigned ordinal, struct space *space);

#endif
