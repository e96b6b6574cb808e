/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of devices, grouped by the lines on which they will be: one line for each stream and each
 * counter, and for each device the lines of events that are no work of the device. Events are in
 * the order of their records, with the times of their collector's clock.
 */
#ifndef DAEMON_DEVICE_LINES_H
#define DAEMON_DEVICE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/devices/keys.h"

struct device_drawing;
struct device_plane;

enum device_line_type {
	DEVICE_LINE_STREAM = 0,
	DEVICE_LINE_OVERHEAD = 1,
	DEVICE_LINE_SYNC = 2, /* waits of the host */
	DEVICE_LINE_MEMORY = 3, /* memory that was taken and given back */
	DEVICE_LINE_COUNTER = 4, /* |stream| is the counter's number (devices.h) */
};

/*
 * True for lines that are no work of the device: they are in the plane beside the device's own
 * (device_plane.h).
 */
static inline bool device_line_is_beside(enum device_line_type type)
{
	return type >= DEVICE_LINE_OVERHEAD && type <= DEVICE_LINE_MEMORY;
}

#define N_DEVICE_LINES_BESIDE 3

struct device_line_key {
	uint8_t collector;
	uint8_t type; /* enum device_line_type */
	uint16_t device;
	uint32_t context;
	uint64_t stream;
};

struct device_event {
	uint64_t start_ns; /* in the collector's clock */
	uint64_t end_ns;
	uint64_t value; /* correlation; for a counter's sample the bits of a double */
	uint32_t detail; /* number of its details (device_details.h) */
	uint32_t reserved;
};

struct device_line {
	struct device_event *events; /* in the order in which they came */
	size_t n_events;
	size_t n_allocated;
	uint32_t kinds; /* a bit for each word of device_words.h that its events have */
	uint32_t name; /* string id of the program's name for it; 0: none */
};

struct device_lines {
	struct keys keys;
	struct device_line *v; /* by the numbers of their keys */
	size_t n;
	size_t n_allocated;
};

void device_lines_init(struct device_lines *lines);
void device_lines_deinit(struct device_lines *lines);

static inline const struct device_line_key *device_lines_get_key(
	const struct device_lines *lines, size_t i)
{
	return keys_get(&lines->keys, (uint32_t)i);
}

/* The line of |key|, a new one if need be; valid until the next call. NULL when memory ran out. */
struct device_line *device_lines_get(struct device_lines *lines, const struct device_line_key *key);
/* 0 or -ENOMEM */
int device_line_add(struct device_line *line, const struct device_event *event);

/* --- ids and names --------------------------------------------------------------------------- */

/* Viewers recognize a device's lines by their ids and names, and no two are equal. */

#define DEVICE_LINE_NAME_BYTES 512

/* Called for lines in the order of their types, and for streams in the order of their numbers. */
int64_t device_line_choose_id(struct device_plane *p, const struct device_line_key *key);
/* Writes the name of the line whose id was chosen last. |text| has DEVICE_LINE_NAME_BYTES. */
void device_line_name(const struct device_plane *p, const struct device_drawing *g,
	const struct device_line_key *key, const struct device_line *line, char *text);

#endif
