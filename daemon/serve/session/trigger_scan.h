/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans the rings of a flight recorder that has triggers (triggers.h): reads new entries ten times
 * a second, and more often while rings fill fast. Without triggers it does nothing.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_TRIGGER_SCAN_H
#define DAEMON_TRIGGER_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/pipeline/drain/triggers.h"

struct recorder;

/* All zero: there are no triggers. */
struct trigger_scan {
	struct triggers triggers;
	int64_t due_ns; /* CLOCK_MONOTONIC: the next scan */
	bool is_outrun; /* entries were overwritten unread, and a warning was logged */
};

/* Reads the triggers from |o|. The results are those of triggers_init(). */
int trigger_scan_init(struct trigger_scan *l, const struct profile_options *o, struct diag *d);
/* Call it after the recorder's end. */
void trigger_scan_deinit(struct trigger_scan *l);

/* Begins after |r| was turned on, and skips entries of an earlier capture. */
void trigger_scan_begin(struct trigger_scan *l, struct recorder *r);
/* Scans if a scan is due. A trigger that fires leaves its reason in l->triggers. */
void trigger_scan_poll(struct trigger_scan *l, struct recorder *r);
/* Makes the last scan. It may be called after the program's death, too. */
void trigger_scan_finish(struct trigger_scan *l, struct recorder *r);
/* Returns when the next scan is due, or INT64_MAX. */
int64_t trigger_scan_get_due(const struct trigger_scan *l);

#endif
