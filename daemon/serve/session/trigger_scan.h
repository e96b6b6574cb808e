/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The looks at the rings of a flight recorder that has triggers (triggers.h): all that is new in them, ten times a second, and
 * more often while they fill fast. Without triggers there are none.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_TRIGGER_SCAN_H
#define DAEMON_TRIGGER_SCAN_H

#include <stdint.h>

#include "daemon/pipeline/drain/triggers.h"

struct recorder;

/* All zero: there are no triggers. */
struct trigger_scan {
	struct triggers triggers;
	int64_t due_ns; /* CLOCK_MONOTONIC: the next look */
	int is_outrun; /* entries were overwritten before they were looked at, and the journal says so */
};

/* Takes the triggers that |o| has. As triggers_init(). */
int trigger_scan_init(struct trigger_scan *l, const struct profile_options *o, struct diag *d);
/* After the recorder's end. */
void trigger_scan_deinit(struct trigger_scan *l);

/* |r| has just been turned on: what it holds already, of a capture, is of no interest. */
void trigger_scan_begin(struct trigger_scan *l, struct recorder *r);
/* Looks when it is time to. Afterwards there may be a reason in l->triggers. */
void trigger_scan_look(struct trigger_scan *l, struct recorder *r);
/* The last look, also at the rings of a program that has died. */
void trigger_scan_finish(struct trigger_scan *l, struct recorder *r);
/* When the next look is due, or INT64_MAX. */
int64_t trigger_scan_get_due(const struct trigger_scan *l);

#endif
