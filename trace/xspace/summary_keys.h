/* SPDX-License-Identifier: Apache-2.0 */
/* Which events and lines of the trace model are special, by the names of their stats. */
#ifndef TRACE_SUMMARY_KEYS_H
#define TRACE_SUMMARY_KEYS_H

#include <stdbool.h>
#include <stdint.h>

struct line;
struct plane;
struct trace_event;
struct trace_stat;

/* The stat names that are looked for; NAMES_NONE where a plane lacks one. */
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
/* Whether there are events, and all are async spans. */
bool line_is_async(
	const struct plane *plane, const struct summary_keys *keys, const struct line *line);
bool event_is_async(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
/* What an event on a thread's line is. A span may be the end of a flow, too: what others than we record. */
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
/* Whether a flow leaves the event, or enters it. */
bool event_is_flow_out(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
bool event_is_flow_in(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
bool event_is_unfinished(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
/* The stat as a count: false if it is no number or a negative one. */
bool stat_get_count(const struct trace_stat *stat, uint64_t *count);

#endif
