/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which lines of devices are drawn: by device, then type and stream, then arrival. */
#ifndef DAEMON_DEVICE_PLACES_H
#define DAEMON_DEVICE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_lines.h"

struct device_records;

/* For a known device without events, which gets a plane, too. */
#define DEVICE_PLACE_NO_LINE UINT32_MAX

struct device_place {
	struct device_line_key key;
	uint32_t line; /* number, or DEVICE_PLACE_NO_LINE */
};

/* Owner: *out belongs to the caller (free). 0 or -ENOMEM. */
int device_places_make(const struct device_records *d, struct device_place **out, size_t *n_out);

/* The number of the |n| places from |places| on that are of the first one's device. */
size_t device_places_count(const struct device_place *places, size_t n);

#endif
