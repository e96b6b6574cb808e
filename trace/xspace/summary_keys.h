/* SPDX-License-Identifier: Apache-2.0 */
/* Tells steps and counters of a trace model by the names of stats and lines. */
#ifndef TRACE_SUMMARY_KEYS_H
#define TRACE_SUMMARY_KEYS_H

#include <stdbool.h>
#include <stdint.h>

struct line;
struct plane;
struct trace_event;

/* Indices of the stat names that tell the kinds; NAMES_NONE where a plane lacks one. */
struct summary_keys {
	uint32_t root; /* _r */
	uint32_t step_num;
	uint32_t unfinished;
};

void summary_keys_init(struct summary_keys *keys, const struct plane *plane);
bool line_is_counters(const struct line *line);
bool event_is_step(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);
bool event_is_unfinished(const struct plane *plane, const struct summary_keys *keys,
	const struct trace_event *event);

#endif
