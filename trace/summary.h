/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of one plane amount to: per thread and name the count and times, per counter its
 * range, per step its percentiles, per async span's name its times, per flow its ends. The
 * reports in text and JSON print these rows.
 *
 * Self time is the duration less that of the events directly inside, on the same line. Where events
 * overlap without nesting, only the part inside of the parent is taken off.
 */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/summary_key.h"

struct line;
struct plane;
struct trace_event;
struct trace_stat;

/* All events of one name on one line. */
struct summary_row {
	uint32_t name; /* index into the plane's event_names */
	uint64_t count;
	uint64_t n_unfinished;
	int64_t total_ns;
	int64_t self_ns;
	int64_t min_ns;
	int64_t max_ns;
	int64_t p50_ns;
	int64_t p99_ns;
};

struct summary_line {
	const struct line *line; /* borrowed from the plane */
	struct summary_row *rows; /* by self time, descending, unless sorted otherwise */
	size_t n_rows;
};

struct summary_counter {
	uint32_t name;
	uint64_t n;
	double min;
	double max;
	double mean;
	double last;
};

struct summary_step {
	uint32_t name;
	uint64_t n;
	uint64_t n_unfinished;
	int64_t mean_ns;
	int64_t p50_ns;
	int64_t p99_ns;
	int64_t min_ns;
	int64_t max_ns;
};

/* The ends of the flows of one name. */
struct summary_flow {
	uint32_t name;
	uint64_t n_out;
	uint64_t n_in;
};

struct summary {
	const struct plane *plane; /* borrowed; must outlive the summary */
	struct summary_line *lines; /* those with events; no counters, no async spans */
	size_t n_lines;
	struct summary_counter *counters; /* in order of first use */
	size_t n_counters;
	struct summary_step *steps; /* by name */
	size_t n_steps;
	struct summary_row *asyncs; /* by total time, descending; self_ns is not used */
	size_t n_asyncs;
	struct summary_flow *flows; /* in order of first use */
	size_t n_flows;
};

int summary_init(struct summary *summary, const struct plane *plane); /* 0 or -ENOMEM */
void summary_deinit(struct summary *summary);
void summary_sort(struct summary *summary, enum summary_key key);
/* Drops the rows, steps, async spans, flows and counters whose names |keep| does not want, and lines without rows. */
void summary_filter(
	struct summary *summary, bool (*keep)(const char *name, void *context), void *context);
/* The parts of summary_init() that fill in the counters, steps, async spans and flows. 0 or -ENOMEM. */
int summary_add_counters(struct summary *summary);
int summary_add_steps(struct summary *summary);
int summary_add_asyncs(struct summary *summary);
int summary_add_flows(struct summary *summary);
/* One more event of |duration_ns| in a row whose min_ns began at INT64_MAX. */
void summary_row_count(struct summary_row *row, int64_t duration_ns, bool is_unfinished);

/* The stat names that the summary and the totals look for; NAMES_NONE where a plane lacks one. */
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
