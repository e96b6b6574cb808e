/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a recording that is armed: its processes are told to record, and then it starts, at once
 * or at an agreed instant. Records in between are left out.
 */
#ifndef DAEMON_RECORDING_START_H
#define DAEMON_RECORDING_START_H

#include <stdint.h>

struct diag;
struct recording;

/*
 * Returns when the threads can record. |level| is the one for which it was armed, or 0. Outcomes as
 * recording_arm(). Sets |d| when a person can do something about a failure.
 */
int recording_begin(struct recording *r, unsigned level, struct diag *d);

/* Skips the present records, as far as they are from before |agreed_ns|. */
void recording_skip(struct recording *r, int64_t agreed_ns);

/*
 * Sets the begin of the trace: |agreed_ns| (CLOCK_MONOTONIC), however late this thread was woken
 * for it. A recording that was armed after it, or has none (0), starts at the time at which it was
 * begun; one that is ended before that time starts now. |usage_interval_ms| may be set before. 0 or
 * -ENOMEM.
 */
int recording_start(struct recording *r, int64_t agreed_ns);

/* The time from the start, and from |asked_ns|, until the threads could record. */
int64_t recording_find_missing_ns(const struct recording *r);
int64_t recording_find_late_ns(const struct recording *r);

#endif
