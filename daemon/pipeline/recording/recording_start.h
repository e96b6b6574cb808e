/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of a recording that is armed: its processes are told to record, and then it starts, at once or at an agreed
 * instant. What is recorded in between is left out.
 */
#ifndef DAEMON_RECORDING_START_H
#define DAEMON_RECORDING_START_H

#include <stdint.h>

struct diag;
struct recording;

/*
 * Returns when the threads can record. |level| is the one that was prepared for, or 0. Outcomes as recording_arm(). |d| when
 * a person can do something about it.
 */
int recording_begin(struct recording *r, unsigned level, struct diag *d);

/* What was recorded until now is of no interest, as far as it was before |agreed_ns|. */
void recording_skip(struct recording *r, int64_t agreed_ns);

/*
 * Where the trace begins. |agreed_ns|: the instant (CLOCK_MONOTONIC), however late this thread was woken for it; one that was
 * armed after it, or has none (0), starts where it was begun, and one that is ended before it starts now.
 * |usage_interval_ms| may be set before. 0 or -ENOMEM.
 */
int recording_start(struct recording *r, int64_t agreed_ns);

/* How long after its start the threads could record; and how long after |asked_ns|. */
int64_t recording_find_missing_ns(const struct recording *r);
int64_t recording_find_late_ns(const struct recording *r);

#endif
