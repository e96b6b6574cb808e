/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What collectors tell of the devices of one process, from bytes that nobody vouches for, kept as compactly as it can be until the
 * recording is over: only then is it known how their clocks went, and which spans were around which call.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_DEVICES_H
#define DAEMON_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/device_clock.h"
#include "daemon/pipeline/devices/device_lines.h"
#include "daemon/pipeline/devices/device_metrics.h"
#include "daemon/pipeline/devices/keys.h"
#include "daemon/pipeline/devices/launches.h"
#include "daemon/pipeline/devices/purse.h"
#include "lib/wire/device.h"

struct arena;
struct entry;

/* Beyond these a record makes no sense. */
#define DEVICES_MAX_COLLECTORS 8u
#define DEVICES_MAX_ORDINAL 255u

/* An event takes about so much when it is encoded, with its stats: that memory has room for it is seen to when it comes. */
#define DEVICES_ENCODED_BYTES 96u

/* What is known of one. */
struct device_known {
	uint8_t collector;
	uint16_t device;
	uint32_t name; /* string id; STRING_ID_LOST: none */
	struct device_info info;
};

/* A trace that a collector makes itself; all its pieces. */
struct device_xspace {
	uint8_t *data;
	size_t n;
	size_t n_allocated;
	bool is_broken; /* memory had no room for all of it */
};

struct devices {
	struct arena *arena; /* borrowed: has the texts */
	struct purse purse; /* what all of it may take of memory */
	struct device_clock clocks[DEVICES_MAX_COLLECTORS];
	struct device_lines lines;
	uint64_t n_events; /* of all lines; DEVICES_ENCODED_BYTES of each are only lent */
	struct keys details; /* struct device_detail */
	struct device_metrics metrics;
	struct device_known *known; /* at most one of each device */
	size_t n_known;
	size_t n_known_allocated;
	struct launches launches;
	struct device_xspace xspaces[DEVICES_MAX_COLLECTORS];
	uint64_t lost[DEVICE_LOSSES][DEVICE_KINDS]; /* as collectors tell */
	uint64_t n_invalid;
	uint64_t n_crowded; /* that memory had no room for */
};

/* |arena| is borrowed. */
void devices_init(struct devices *d, struct arena *arena);
/* What it may take; borrowed. */
void devices_set_keep(struct devices *d, struct memory_budget *keep);
void devices_deinit(struct devices *d);

/* A RECORD_DEVICE, read (entry_read()). 0 or -ENOMEM. */
int devices_add(struct devices *d, const struct entry *e);
/* There is something to draw. */
static inline int devices_have_content(const struct devices *d)
{
	return d->lines.n || d->n_known;
}

/* Nothing more will come: from here on clocks convert, and calls are found. */
void devices_settle(struct devices *d);
/* They are encoded now: the room for that is free. */
void devices_make_room(struct devices *d);

/* Of those that it knows, or NULL. */
const struct device_known *devices_find_known(
	const struct devices *d, unsigned collector, unsigned device);

#endif
