/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which lines of devices are drawn: device by device, then by type and stream, then as they came. */
#ifndef DAEMON_DEVICE_PLACES_H
#define DAEMON_DEVICE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_lines.h"

struct devices;

/* For a device that did nothing, but is known: it has a plane, too. */
#define DEVICE_PLACE_NO_LINE UINT32_MAX

struct device_place {
	struct device_line_key key;
	uint32_t line; /* number, or DEVICE_PLACE_NO_LINE */
};

/* Owner: *out belongs to the caller (free). 0 or -ENOMEM. */
int device_places_make(const struct devices *d, struct device_place **out, size_t *n_out);

/* How many, from |places| on, of |n|, are of one device. */
size_t device_places_count(const struct device_place *places, size_t n);

#endif
