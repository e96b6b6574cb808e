/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One collector's part in a capture, in the steps of <proftap/collector.h>. A failed step becomes a
 * warning of the capture, and the steps that succeeded before are undone.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <proftap/collector.h>
#include <stdint.h>

struct collect_run;
struct plugin;

enum collector_stage {
	COLLECTOR_WAITING, /* its library or device is not in use yet */
	COLLECTOR_RECORDING,
	COLLECTOR_OVER, /* it failed or ended */
};

struct collector {
	struct plugin *plugin;
	unsigned number; /* its index among the process's collectors */
	enum collector_stage stage;
	void *state; /* private to the collector */
	char why[PTAP_COLLECTOR_WHY_BYTES]; /* the message of the last step */
};

/* Begins the collector if it waits and can begin. */
void collector_begin(struct collector *self, struct collect_run *run);
/* Both do nothing unless the collector records. */
void collector_poll(struct collector *self, struct collect_run *run);
void collector_flush(struct collector *self, struct collect_run *run);
/*
 * Ends the collector in any stage. The collector itself must keep |deadline_ns| (CLOCK_MONOTONIC).
 */
void collector_end(struct collector *self, struct collect_run *run, int64_t deadline_ns);

#endif
