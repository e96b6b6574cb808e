/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says about the recording itself, read out of plane stats; for the forms of it. */
#ifndef TRACE_REPORT_FACTS_H
#define TRACE_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plane;
struct report_options;
struct space;
struct summary;

struct report_session {
	uint64_t start_unix_ns;
	uint64_t stop_unix_ns; /* >= start */
};

/* From the plane `Task Environment`; false if it is not there. */
bool report_get_session(const struct space *space, struct report_session *session);
/* Whether plane stat |i| counts something lost (dropped_traces, ptap_lost_…), and what. */
bool report_get_loss(const struct plane *plane, size_t i, const char **name, uint64_t *count);
/* The process a plane belongs to: its name, borrowed, or NULL; |pid| is -1 if unknown. */
const char *report_get_process(const struct plane *plane, int64_t *pid);

/* The summary of a plane as |options| (not NULL) want it. 0 or -ENOMEM. */
int report_summarise(
	const struct plane *plane, const struct report_options *options, struct summary *summary);
/* How many of |n| rows are shown; |n_default| 0: all. */
size_t report_count_shown(size_t n, size_t n_default, const struct report_options *options);

#endif
