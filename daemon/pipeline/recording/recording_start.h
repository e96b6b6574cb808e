/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts an armed recording: first the processes are told to record, then the recording starts, at
 * once or at an agreed instant. Records in between are left out.
 */
#ifndef DAEMON_RECORDING_START_H
#define DAEMON_RECORDING_START_H

#include <stdint.h>

struct diag;
struct recording;

/*
 * Returns when the threads can record. |level| is the level for which the recording was armed, or
 * 0: threads are not told to record after all. Outcomes as recording_arm(). Sets |d| when a person
 * can do something about a failure.
 */
int recording_begin(struct recording *r, unsigned level, struct diag *d);

/* Skips the present records that are from before |agreed_ns|. */
void recording_skip(struct recording *r, int64_t agreed_ns);

/*
 * Sets the begin of the trace to |agreed_ns| (CLOCK_MONOTONIC), however late this thread was woken.
 * If the recording was armed after that time, or if |agreed_ns| is 0, the trace begins with
 * recording_begin(). If the recording is ended before |agreed_ns|, the trace begins now.
 * For usage samples, set r->usage_interval_ms before. 0 or -ENOMEM.
 */
int recording_start(struct recording *r, int64_t agreed_ns);

/* The time from the start, and from |asked_ns|, until the threads could record. */
int64_t recording_find_missing_ns(const struct recording *r);
int64_t recording_find_late_ns(const struct recording *r);

#endif
