/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says about the recording itself, read out of plane stats; for the forms of it. */
#ifndef TRACE_REPORT_FACTS_H
#define TRACE_REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plane;
struct space;

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

#endif
