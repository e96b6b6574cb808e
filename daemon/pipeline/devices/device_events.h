/* SPDX-License-Identifier: Apache-2.0 */
/* What happened on a device, or because of it: records that become events. */
#ifndef DAEMON_DEVICE_EVENTS_H
#define DAEMON_DEVICE_EVENTS_H

#include "lib/wire/device.h"

struct devices;
struct entry;

/* One that is being read: of |v| those bytes are there that its kind has. */
struct device_record {
	const struct entry *entry;
	struct device_entry v;
};

/* One of the kinds from DEVICE_KERNEL to DEVICE_COUNTER. 0 or -ENOMEM. */
int device_events_take(struct devices *d, const struct device_record *r);

#endif
