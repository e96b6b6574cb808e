/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: rings that overwrite their oldest records, all the time, and what of them is asked for now and then
 * (docs/internals/recorder.md). Captures run beside it; see orders.h for what the processes are told then.
 *
 * Threads: the worker's.
 */
#ifndef DAEMON_RECORDER_H
#define DAEMON_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/pipeline/drain/ended_threads.h"
#include "daemon/pipeline/recording/recording.h"

struct diag;
struct family;

/* Between two tends. */
#define RECORDER_INTERVAL_NS INT64_C(1000000000)

struct recorder {
	struct family *family;
	bool is_on;
	struct recording recording; /* its sources hold no records: those are in the rings */
	uint64_t max_bytes; /* of a snapshot, as it was asked for; 0: what is left then decides */
	struct ended_pool ended;
	uint64_t most_rings_bytes; /* that threads had at a time; |ended| has a share of it */
	struct ended_threads **ended_of; /* by source */
	size_t n_ended_allocated;
	struct ended_sums gone; /* of children that were let go; told with the program's */
	bool is_lent; /* a part of it is with another thread: no process's names may go */
	int64_t due_ns; /* CLOCK_MONOTONIC: the next tend */
	struct clock_pair frozen; /* when the program had died; 0: it lives */
};

void recorder_init(struct recorder *r, struct family *f);
void recorder_deinit(struct recorder *r);

/*
 * Turns it on at |level|, 1 to 3, within |max_bytes| of memory (0: the default, by what is left when it is taken) for each
 * snapshot. 0; RECORDING_NO_TARGET;
 * or a negative errno, with |d| unless it is -ENOMEM: then it is off.
 */
int recorder_start(struct recorder *r, unsigned level, uint64_t max_bytes, struct diag *d);
/* Turns it off; what it held is gone. A capture that runs goes on. */
void recorder_stop(struct recorder *r);

/*
 * What is to be done once a second, or sooner when rings become few. |is_capturing|: rings of threads that are gone are the
 * capture's to free. Nothing before r->due_ns.
 */
void recorder_tend(struct recorder *r, bool is_capturing);

/* The program has died: from here on a cut is of this instant. Its children record no more. */
void recorder_freeze(struct recorder *r);

/* Whether there is anything of a thread, here or ended, that a cut would show. Costs a look at each ring's head. */
bool recorder_has_content(const struct recorder *r);

/*
 * What all rings hold at this instant, of the last |last_ms| (0: all), as a part of a recording (recording_cut.h): it need not
 * be initialised, is not moved afterwards, and lives no longer than the recorder is on. 0, or -ENOMEM: something is
 * missing. In any case recording_part_deinit().
 */
int recorder_cut(struct recorder *r, uint64_t last_ms, struct recording *part);

#endif
