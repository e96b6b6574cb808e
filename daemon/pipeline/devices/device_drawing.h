/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws devices' records as lines of planes, with names and with the times of the trace. Stats that
 * many events share are made once. A line can be very long, so its stats are made a part at a time.
 */
#ifndef DAEMON_DEVICE_DRAWING_H
#define DAEMON_DEVICE_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/pipeline/devices/device_losses.h"
#include "trace/model/space.h"

struct arena;
struct device_known;
struct device_records;
struct names;

/* The process and the recording whose devices are drawn. */
struct device_scope {
	struct arena *arena; /* borrowed: has the texts */
	const char *process_name;
	pid_t pid;
	bool is_child; /* of the program that is recorded */
	/*
	 * the program's CLOCK_MONOTONIC at the begin of the trace; times below are relative to it
	 */
	int64_t base_ns;
	/* later events are left out, and so are those that ended before the trace begins */
	int64_t to_ns;
	const struct names *span_names; /* by the numbers of spans in struct launch_table */
	uint64_t max_ops; /* the most different span names of a device; 0: no limit */
	const _Atomic int *cancel; /* raised: the trace is not wanted any more; NULL ok */
};

/* Names of stats; see device_drawing.c for the texts. */
enum device_stat {
	DEVICE_STAT_CORRELATION,
	DEVICE_STAT_OP,
	DEVICE_STAT_STARTED_BEFORE,
	DEVICE_STAT_CONTEXT,
	DEVICE_STAT_KERNEL,
	DEVICE_STAT_OCCUPANCY,
	DEVICE_STAT_MIN_GRID,
	DEVICE_STAT_BLOCK_SIZE,
	DEVICE_STAT_MANGLED,
	DEVICE_STAT_COPY,
	DEVICE_STAT_SET,
	DEVICE_STAT_ALLOCATED,
	DEVICE_STAT_FREED,
	DEVICE_STAT_GRAPH,
	DEVICE_STAT_NODE,
	DEVICE_STAT_GRAPH_EXEC,
	DEVICE_STAT_STREAM,
	DEVICE_STAT_TYPE,
	N_DEVICE_STATS
};

/* A longer text is cut. */
#define DEVICE_TEXT_BYTES 1024u

/* The name and stats that all events with one detail share in a plane. */
struct device_template {
	uint32_t name; /* of the event */
	uint32_t first_stat;
	uint8_t n_stats;
	uint8_t is_made;
	uint8_t has_op; /* the stats have DEVICE_STAT_OP */
};

/* A text of the program in the present plane; numbers + 1, 0: not known yet. */
struct device_text {
	uint32_t event_name;
	uint32_t mangled; /* of stat_names; 0 also when the name is not mangled */
};

struct device_drawing {
	struct device_records *d; /* borrowed, with the three below */
	const struct device_scope *scope;
	struct plane *plane;
	const struct device_known *known; /* of the plane's device, or NULL */
	struct device_template *templates; /* by the numbers of details */
	struct trace_stat *stats; /* of all templates */
	size_t n_stats;
	size_t n_stats_allocated;
	uint32_t keys[N_DEVICE_STATS]; /* number + 1 of stat_names; 0: not used yet */
	struct device_text *texts; /* by string id */
	uint32_t n_ids;
	uint32_t n_ops; /* names of spans, without those that the drawing adds */
	uint32_t *ops; /* by the number of a span's name: number + 1 of stat_names */
	uint64_t n_named_ops; /* in the plane */
	size_t near; /* see launches_find_call() */
	struct device_losses losses;
	int error; /* -ENOMEM, and stays so */
};

/* |d| and |scope| are borrowed. 0 or -ENOMEM; call device_drawing_deinit() in either case. */
int device_drawing_init(
	struct device_drawing *g, struct device_records *d, const struct device_scope *scope);
void device_drawing_deinit(struct device_drawing *g);
/* Draws the device |device| of |collector| into |plane| from here on. */
void device_drawing_begin(
	struct device_drawing *g, struct plane *plane, unsigned collector, unsigned device);

/*
 * Adds the events of the line |i|, in order, to |out|, an empty line without a name. They have no
 * stats yet. Events outside of the recording are counted. 0, -ENOMEM or -ECANCELED.
 */
int device_drawing_make_line(struct device_drawing *g, size_t i, struct line *out);
/* Gives |n| of these events their stats, in the plane. 0 or -ENOMEM. */
int device_drawing_add_stats(
	struct device_drawing *g, size_t i, struct trace_event *events, size_t n);

/* Copies the text of |id|, cut and terminated; |text| has DEVICE_TEXT_BYTES. */
void device_drawing_read_text(const struct device_drawing *g, uint32_t id, char *text);

#endif
