/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording has a source for each process of the family, and one timeline for all of them.
 * A child that joins becomes a source at once; the source of a child that ends is kept.
 */
#ifndef DAEMON_RECORDING_H
#define DAEMON_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/nvml/gpu_sampler.h"
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/samples/sampler.h"
#include "daemon/pipeline/samples/samples.h"
#include "daemon/target/family.h"
#include "daemon/target/timeline.h"

struct diag;
struct recording;
struct source;
struct space;
struct spooler;

/*
 * Samples the usage of a recording's processes (usage.h), and of their GPUs by NVML on a thread of
 * its own.
 */

/*
 * Begins to sample the sources from |first| on, as long as descriptors are left. Counts the
 * processes without descriptors.
 */
void recording_usage_begin(struct recording *r, size_t first);

struct recording_gpus {
	struct gpu_sampler_config config; /* .interval_ns 0: nothing is sampled; set after init */
	/* NULL: no process uses a GPU yet, there is no driver, or the sampler was stopped */
	struct gpu_sampler *sampler;
	bool is_tried; /* the start of the sampler was tried */
	size_t n_told; /* processes that the sampler knows */
	struct gpu_samples samples; /* all samples after the end, or those of a part */
	char why[GPU_SAMPLER_WHY_BYTES]; /* the reason when samples are missing, or "" */
};

/*
 * Works as usage_cut(); |part| is a copy of |r|. part->gpus.samples.error is -ENOMEM when samples
 * are missing.
 */
void recording_gpus_cut(struct recording *r, struct recording *part, int64_t from_ns);
void recording_gpus_deinit(struct recording *r);

/* Adds a warning when samples are missing. 0 or -ENOMEM. */
int recording_gpus_add_warning(const struct recording *r, struct space *space);

/* CPU samples of a recording's processes. */
struct recording_samples {
	unsigned rate_hz; /* 0: nothing is sampled; set after init */
	bool has_states; /* states of threads are recorded, too; set after init */
	/* not 0: the memory for samples, of which the newest are kept; set after init */
	uint64_t newest_bytes;
	struct sampler *sampler; /* NULL: nothing is sampled, or the sampler was stopped */
	size_t n_told; /* processes that the sampler knows */
	struct samples samples; /* all samples after the end, or those of a part */
	char why[SAMPLER_WHY_BYTES]; /* the reason when samples are missing, or "" */
};

/* The share of the recording's memory that samples may have. */
#define RECORDING_SAMPLES_SHARE 8

/* Called when the recording is armed: events are open before it begins. */
void recording_samples_begin(struct recording *r);
/* Begins to sample the sources that were added since the last call. */
void recording_samples_visit(struct recording *r);
/* Called before the source |i| is removed. */
void recording_samples_forget(struct recording *r, size_t i);
/* Ends the sampling. Does nothing the second time. */
void recording_samples_end(struct recording *r);
/*
 * Works as usage_cut(); |part| is a copy of |r|. part->samples.samples.error is -ENOMEM when
 * samples are missing.
 */
void recording_samples_cut(struct recording *r, struct recording *part, int64_t from_ns);
/*
 * Copies the samples from |from_ns| (CLOCK_MONOTONIC) on to |part|, which has none. |r| goes on,
 * and its sampling may not be ended meanwhile. Returns the earliest time in the copy, at least
 * |from_ns|; INT64_MAX: there is none.
 */
int64_t recording_samples_copy(
	const struct recording *r, struct recording_samples *part, int64_t from_ns);
/* Returns true if there is a sample; false while the sampling goes on. */
bool recording_samples_exist(const struct recording *r);
void recording_samples_deinit(struct recording *r);

struct recording {
	struct family *family;
	struct source **sources; /* the first one is the program that started the server */
	size_t n_sources;
	size_t n_allocated;
	uint64_t max_bytes; /* of the whole capture, in this process and on the disk */
	struct drain_budget budget;
	struct spooler *spooler; /* the budget's sink; NULL: it was not needed yet */
	/* budget.window_bytes for parts (recording_cut.h); that of an unlimited recording is 0 */
	uint64_t part_window_bytes;
	char spool_problem[512]; /* why there is no file; "": there is no problem */
	struct timeline timeline;
	unsigned level; /* 0: no thread records */
	/* the member of |family| for this recording's level; capture_level unless set after init */
	_Atomic unsigned *asked;
	bool uses_ticks;
	int64_t usage_interval_ms; /* 0: no samples */
	struct recording_gpus gpus;
	struct recording_samples samples;
	size_t next_usage; /* the next source whose usage is sampled */
	struct collectors collectors; /* its options are set before it is armed */
	struct family_meeter meeter;
	size_t n_met; /* this many children of the family became sources, or were passed over */
	unsigned n_deaf; /* children that did not answer, because they were stopped */
	/* the program was stopped, for example by SIGSTOP, when the recording ended */
	bool is_halted;
	/* about how long the program was stopped in this recording or part; only for captures */
	int64_t halted_ns;
	/* CLOCK_MONOTONIC of the last check whether it is stopped; 0: no checks */
	int64_t halt_polled_ns;
	bool was_halted; /* the program was stopped at the last check */
	unsigned n_without_usage; /* children for which there were no descriptors */
	unsigned n_left_out; /* children for which the capture had no memory */
	int64_t asked_ns; /* CLOCK_MONOTONIC at which it was to begin; 0: at once */
	int64_t unix_offset_ns; /* Unix time minus CLOCK_MONOTONIC; set before it is begun */
	int64_t start_unix_ns;
	uint64_t earliest_ticks; /* no record of this recording ended before this time */
	struct clock_pair armed; /* the time at which it was armed */
	struct clock_pair begun; /* just before the processes were told to record */
	/* CLOCK_MONOTONIC from which on the threads of all processes could record */
	int64_t able_ns;
	struct clock_pair start;
	/* CLOCK_MONOTONIC: the agreed end, later records are left out; INT64_MAX: none is agreed */
	int64_t end_ns;
	/* ns since the start; a part (recording_cut.h) has no records that ended before it */
	int64_t window_ns;
	struct clock_pair stop;
	bool has_origin; /* the part's start is the begin of its trace; see recording_cut.h */
	/* for a part: all records until then are in it or in earlier parts */
	uint64_t settled_ticks;
	int64_t last_pair_ns;
	int error; /* -ENOMEM: records are missing */
};

/* |end_ns| since the start; INT64_MAX: none is agreed. */
int64_t recording_find_end(const struct recording *r);

/*
 * Outcome of recording_arm() and recording_begin() besides 0 and negative ones: the program is
 * gone.
 */
#define RECORDING_NO_TARGET 1

/*
 * Raw slots, the model and the encoded bytes exist at once: together they take at most this many
 * times the slots' memory.
 */
#define RECORDING_BYTES_PER_SLOT_BYTE 5

/*
 * |max_bytes| bounds the whole capture, |window_bytes| (0: the default) the slots that are not
 * spooled yet.
 */
void recording_init(
	struct recording *r, struct family *f, uint64_t max_bytes, uint64_t window_bytes);
/* Sets these two bounds anew, in a recording that holds nothing yet. */
void recording_limit(struct recording *r, uint64_t max_bytes, uint64_t window_bytes);
/*
 * Keeps all slots in memory, however many they are; the caller limits their number. Called before
 * the recording begins.
 */
void recording_set_unlimited(struct recording *r);
void recording_deinit(struct recording *r);

/*
 * Prepares rings for |level|. Nothing is recorded until recording_begin() (recording_start.h). Sets
 * |d| when a person can do something about a failure.
 */
int recording_arm(struct recording *r, unsigned level, struct diag *d);
/* Makes sources of children that join before the end. Called once, when the others have begun. */
void recording_meet(struct recording *r);
/* Called before rings are read, so that the time of their records is known. */
void recording_note_clock(struct recording *r);
/* Copies out the new records; returns how full the fullest ring was, in 1/1000. */
unsigned recording_visit(struct recording *r);
/* The time between two checks whether the program is stopped, which take some 10 us each. */
#define RECORDING_HALT_POLL_NS (INT64_C(20) * 1000 * 1000)
/*
 * Adds to |halted_ns| the time for which the program was stopped since the last call; the first
 * call adds nothing.
 */
void recording_poll_halt(struct recording *r);
/* 0, -ETIMEDOUT when the program is stopped (its records are kept), or -ENOMEM. */
int recording_end(struct recording *r);
/*
 * Waits until all slots are spooled. Called once, before sources are assembled. When the flight
 * recorder is on, |poll| (NULL ok) is called meanwhile on this thread, each millisecond and at each
 * wake-up.
 */
void recording_finish(struct recording *r, void (*poll)(void *), void *context);

#endif
