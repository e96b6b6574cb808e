/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of a flight recorder's snapshot: why it was taken, and how far back each thread reaches. */
#ifndef TRACE_REPORT_RECORDER_H
#define TRACE_REPORT_RECORDER_H

#include <stdio.h>

struct json;
struct plane;
struct space;

/* Lines for people; nothing where the trace does not tell. */
void report_recorder_print_reason(FILE *out, const struct space *space);
void report_recorder_print_windows(FILE *out, const struct plane *plane);
/* Members "reason" (null: none) and "windows" (a list of texts) of the object that |j| is in. */
void report_recorder_put_reason(struct json *j, const struct space *space);
void report_recorder_put_windows(struct json *j, const struct plane *plane);

#endif
