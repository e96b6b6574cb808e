/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One collector's life in a capture, step by step, as <proftap/collector.h> has them. What a step says of its failure goes to
 * the capture's sentences; what succeeded before is taken back.
 */
#ifndef COLLECT_LIFE_H
#define COLLECT_LIFE_H

#include <proftap/collector.h>
#include <stdint.h>

struct collect_run;
struct plugin;

enum life_stage {
	LIFE_WAITING, /* what it is for is not there yet, or not in use */
	LIFE_RECORDING,
	LIFE_OVER, /* it failed, or has ended */
};

struct life {
	struct plugin *plugin;
	unsigned number; /* of the process's collectors */
	enum life_stage stage;
	void *state; /* the collector's own */
	uint64_t n_losses_before;
	char why[PTAP_COLLECTOR_WHY_BYTES]; /* of the last step */
};

/* Nothing unless it waits: looks whether it can begin, and begins. */
void life_begin(struct life *l, struct collect_run *run);
/* Nothing unless it records. */
void life_poll(struct life *l, struct collect_run *run);
void life_flush(struct life *l, struct collect_run *run);
/* Ends it, whatever it is at. |deadline_ns| (CLOCK_MONOTONIC) is the collector's own to keep. */
void life_end(struct life *l, struct collect_run *run, int64_t deadline_ns);

#endif
