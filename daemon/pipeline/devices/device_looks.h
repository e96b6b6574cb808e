/* SPDX-License-Identifier: Apache-2.0 */
/* What details are in a plane: the name of an event, and the stats that all events with them have alike. */
#ifndef DAEMON_DEVICE_LOOKS_H
#define DAEMON_DEVICE_LOOKS_H

#include "daemon/pipeline/devices/device_drawing.h"

#define DEVICE_LOOK_MAX_STATS 9

/* Makes |detail|'s. NULL never; errors are in g->error. */
const struct device_look *device_look_make(struct device_drawing *g, uint32_t detail);

static inline const struct device_look *device_look_get(struct device_drawing *g, uint32_t detail)
{
	const struct device_look *look = &g->looks[detail];

	return look->is_made ? look : device_look_make(g, detail);
}

#endif
