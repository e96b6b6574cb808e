/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors' records of one process's devices, read from untrusted bytes. They are kept
 * compactly until the recording ends, because only then the rates of the clocks are known, and the
 * spans around each call.
 *
 * Threads: one at a time.
 */
#ifndef DAEMON_DEVICES_H
#define DAEMON_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/kernel/memory_budget.h"
#include "daemon/pipeline/devices/device_clock.h"
#include "daemon/pipeline/devices/device_lines.h"
#include "daemon/pipeline/devices/keys.h"
#include "daemon/pipeline/devices/launches.h"
#include "lib/wire/device.h"
#include "lib/wire/vendor.h"
#include "trace/model/names.h"

struct arena;
struct entry;

/* A record with a larger number makes no sense. */
#define DEVICES_MAX_COLLECTORS COLLECTORS_MAX
#define DEVICES_MAX_ORDINAL 255u

/* The approximate size of an encoded event with its stats, which is reserved with each event. */
#define DEVICES_ENCODED_BYTES 96u

/* The facts about one device. */
struct device_known {
	uint8_t collector;
	uint16_t device;
	uint32_t name; /* string id; STRING_ID_LOST: none */
	struct device_info info;
};

/* All pieces of a trace that a collector makes itself. */
struct device_xspace {
	uint8_t *data;
	size_t n;
	size_t n_allocated;
	bool is_broken; /* memory had no room for all of it */
};

/* Numbers for the names of counters. A name can have several string ids, but it is one counter. */

#define DEVICE_METRICS_FULL 1

/* All zero is empty. */
struct device_metrics {
	struct names names;
	uint32_t *number_of; /* by string id: number + 1; 0: not seen yet */
	size_t n_ids;
};

struct device_records {
	struct arena *arena; /* borrowed: has the texts */
	struct purse purse; /* pays for the memory of all records */
	struct device_clock clocks[DEVICES_MAX_COLLECTORS];
	struct device_lines lines;
	uint64_t n_events; /* of all lines; DEVICES_ENCODED_BYTES are reserved for each */
	struct keys details; /* struct device_detail */
	struct device_metrics metrics;
	struct device_known *known; /* one for each device */
	size_t n_known;
	size_t n_known_allocated;
	struct launch_table launches;
	struct device_xspace xspaces[DEVICES_MAX_COLLECTORS];
	uint64_t lost[DEVICE_LOSSES][DEVICE_KINDS]; /* as the collectors count them */
	uint64_t n_invalid;
	uint64_t n_crowded; /* records for which memory had no room */
};

/* |arena| is borrowed. */
void devices_init(struct device_records *d, struct arena *arena);
/* Sets the memory that |d| may take; borrowed. */
void devices_set_keep(struct device_records *d, struct memory_budget *keep);
void devices_deinit(struct device_records *d);

/* Adds a RECORD_DEVICE that entry_read() has read. 0 or -ENOMEM. */
int devices_add(struct device_records *d, const struct entry *e);
/* True when there is something for the trace. */
static inline bool devices_have_content(const struct device_records *d)
{
	return d->lines.n || d->n_known;
}

/* Called after the last record: from here on clocks convert times, and calls can be searched. */
void devices_settle(struct device_records *d);
/* Frees the reserved memory when the events are about to be encoded. */
void devices_make_room(struct device_records *d);

/* The facts about a device, or NULL. */
const struct device_known *devices_find_known(
	const struct device_records *d, unsigned collector, unsigned device);

#endif
