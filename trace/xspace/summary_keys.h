/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the kinds of events and lines (steps, flows, async spans, counters) by the names of their
 * stats.
 */
#ifndef TRACE_SUMMARY_KEYS_H
#define TRACE_SUMMARY_KEYS_H

#include <stdbool.h>
#include <stdint.h>

struct line;
struct plane;
struct trace_event;
struct trace_stat;

/* Indices of the stat names that tell the kinds; NAMES_NONE where a plane lacks one. */
struct summary_keys {
	uint32_t root; /* _r */
	uint32_t step_num;
	uint32_t unfinished;
	uint32_t async; /* _a */
	uint32_t producer; /* _p */
	uint32_t consumer; /* _c */
};

void summary_keys_init(struct summary_keys *keys, const struct plane *plane);
bool line_is_counters(const struct line *line);
/* True if the line has events, and all are async spans. */
bool line_is_async(
	const struct plane *plane, const struct summary_keys *keys, const struct line *line);
bool event_is_async(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
/*
 * The kind of an event on a thread's line. In foreign traces a span may also be the end of a flow.
 */
enum event_kind {
	EVENT_SPAN, /* has a duration, or is a step, or has no end */
	EVENT_INSTANT,
	EVENT_FLOW_MARK,
	EVENT_KINDS
};

enum event_kind event_get_kind(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
void line_count_kinds(const struct plane *plane, const struct summary_keys *keys,
	const struct line *line, uint64_t n_of_kind[EVENT_KINDS]);
bool event_is_step(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
/* True if a flow leaves the event, or enters it. */
bool event_is_flow_out(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
bool event_is_flow_in(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
bool event_is_unfinished(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
/* Reads the stat as a count: false if it is no integer or a negative one. */
bool stat_get_count(const struct trace_stat *stat, uint64_t *count);

#endif
