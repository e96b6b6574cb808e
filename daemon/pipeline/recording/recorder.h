/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: rings that overwrite their oldest records all the time, and snapshots of
 * them (docs/internals/recorder.md). Captures can run at the same time; orders.h derives the orders
 * to the processes from both.
 *
 * Threads: only the worker calls these functions.
 */
#ifndef DAEMON_RECORDER_H
#define DAEMON_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/pipeline/drain/ended_threads.h"
#include "daemon/pipeline/recording/recording.h"

struct diag;
struct family;

/* The time between two calls of recorder_tend(). */
#define RECORDER_INTERVAL_NS INT64_C(1000000000)

struct recorder {
	struct family *family;
	bool is_on;
	struct recording recording; /* its sources hold no records: these are in the rings */
	/* of a snapshot, from the options; 0: the free memory at that time decides */
	uint64_t max_bytes;
	struct ended_pool ended;
	/* the most bytes of rings that threads had at a time; |ended| may take a share of it */
	uint64_t most_rings_bytes;
	struct ended_threads **ended_of; /* by source */
	size_t n_ended_allocated;
	struct ended_sums gone; /* of forgotten children; reported with the program's */
	bool is_lent; /* another thread uses a part of it: no process's names may be freed */
	int64_t due_ns; /* CLOCK_MONOTONIC, of recorder_tend() */
	struct clock_pair frozen; /* after the program's death; 0: the program lives */
};

void recorder_init(struct recorder *r, struct family *f);
void recorder_deinit(struct recorder *r);

struct recorder_config {
	unsigned level; /* 1 to 3 */
	uint64_t max_bytes; /* memory for each snapshot; 0: the free memory at that time decides */
	unsigned sample_rate_hz; /* of CPU samples; 0: none */
	bool has_states; /* with samples: states of threads are recorded, too */
};

/*
 * Turns the recorder on. 0, RECORDING_NO_TARGET, or a negative errno, with |d| unless it is
 * -ENOMEM. On failure the recorder is off. Samples that the kernel refuses are no failure.
 */
int recorder_start(struct recorder *r, const struct recorder_config *config, struct diag *d);
/* Turns the recorder off, and drops its records. A capture that runs goes on. */
void recorder_stop(struct recorder *r);

/*
 * Does the work that is due once a second, or sooner when rings become few. Does nothing before
 * r->due_ns. With |is_capturing| the capture frees the rings of threads that are gone.
 */
void recorder_tend(struct recorder *r, bool is_capturing);

/*
 * Called when the program has died: later cuts are of this instant, and its
 * children record no more.
 */
void recorder_freeze(struct recorder *r);

/*
 * True when a cut would have a record of any thread, also of an ended one, or a frozen recorder has
 * a CPU sample. Reads each ring's head.
 */
bool recorder_has_content(const struct recorder *r);

/*
 * Adds the CPU samples of the time of |part|, which recorder_cut() made: of the requested time, or
 * of that of its records; all that are kept if no record was overwritten. Waits for the sampler, so
 * the worker lets another thread call this. Returns their earliest time (CLOCK_MONOTONIC), or
 * INT64_MAX. part->error is -ENOMEM when samples are missing.
 */
int64_t recorder_add_samples(const struct recorder *r, uint64_t last_ms, struct recording *part);

/*
 * Copies the records of the last |last_ms| (0: all) in all rings to |part| (recording_cut.h), which
 * need not be initialised, must not be moved afterwards, and must not outlive the recorder. 0, or
 * -ENOMEM: records are missing. Call recording_part_deinit() in any case.
 */
int recorder_cut(struct recorder *r, uint64_t last_ms, struct recording *part);

#endif
