/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts device records of collectors into the logs of log_fixture.h, and reads the resulting trace.
 * Times are ns since the capture's start, which is DEVICE_EPOCH_NS on the collector's clock.
 */
#ifndef TESTS_UNIT_DEVICE_FIXTURE_H
#define TESTS_UNIT_DEVICE_FIXTURE_H

#include <stdint.h>

#include "lib/wire/device.h"
#include "trace/model/space.h"

#define DEVICE_EPOCH_NS UINT64_C(1700000000000000000)
/* The end of the capture. */
#define DEVICE_STOP_NS INT64_C(1000000)

struct thread_log;

/* A record of device 0, context 1, stream 7, from |start| to |end|; the rest is zero. */
struct device_entry device_make(enum device_kind kind, int64_t start, int64_t end);
/* |name| may be NULL: no name. */
void device_put(struct thread_log *log, const char *name, const struct device_entry *entry);
/* The same with only the first |n_bytes| of a record. */
void device_put_bytes(
	struct thread_log *log, const char *name, const void *bytes, uint32_t n_bytes);
/* The anchors of the collector 0, at the start and at the stop. */
void device_put_anchors(struct thread_log *log);
/* Puts a kernel of 16 blocks of 256 threads, which have 32 registers each. */
void device_put_kernel(
	struct thread_log *log, const char *name, uint64_t correlation, int64_t start, int64_t end);
/* Puts the facts of an H100. */
void device_put_info(struct thread_log *log, uint16_t device, uint8_t uuid);

/*
 * Puts a launch, a launch in |context|, a launch of |graph|, or a mark of a graph's node, with
 * |depth| spans around it (in |context|: none).
 */
void device_put_launch(struct thread_log *log, const char *name, uint64_t correlation,
	int64_t start, int64_t end, unsigned depth);
void device_put_launch_in(struct thread_log *log, uint32_t context, int64_t start, int64_t end);
void device_put_graph_launch(struct thread_log *log, uint64_t correlation, uint32_t graph,
	int64_t start, int64_t end, unsigned depth);
void device_put_node(
	struct thread_log *log, uint64_t node, uint64_t original, int64_t at, unsigned depth);
/* Puts a span. */
void device_put_span(
	struct thread_log *log, const char *name, int64_t start, int64_t end, unsigned depth);

/* The plane |name| of logs.space; the test fails without one. */
struct plane *device_plane(const char *name);
/* The line |name| of the plane; the test fails without one. */
const struct line *device_line(const struct plane *plane, const char *name);
const char *device_event_name(const struct plane *plane, const struct trace_event *event);
/* The event |name| of the line; the test fails without one. */
const struct trace_event *device_event(
	const struct plane *plane, const struct line *line, const char *name);
/* NULL: the event has no such stat. */
const struct trace_stat *device_stat(
	const struct plane *plane, const struct trace_event *event, const char *name);
/* The text of a stat; NULL: the event has no such stat. */
const char *device_text(
	const struct plane *plane, const struct trace_event *event, const char *name);

#endif
