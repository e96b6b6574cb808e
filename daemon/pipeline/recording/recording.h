/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording part of a capture: a source for each process of the family, one timeline for all of them.
 * A child that joins meanwhile becomes a source at once; one that ends is kept.
 */
#ifndef DAEMON_RECORDING_H
#define DAEMON_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/recording_gpus.h"
#include "daemon/target/family.h"
#include "daemon/target/timeline.h"

struct diag;
struct source;
struct spooler;

struct recording {
	struct family *family;
	struct source **sources; /* the first one is the program that started the server */
	size_t n_sources;
	size_t n_allocated;
	uint64_t max_bytes; /* of the whole capture, in this process and on the disk */
	struct drain_budget budget;
	struct spooler *spooler; /* the budget's sink; NULL: it was not needed yet */
	uint64_t
		part_window_bytes; /* the budget's of what is cut off, with recording_set_unlimited() */
	char spool_problem[512]; /* "": there is none */
	struct timeline timeline;
	unsigned level; /* 0: no thread records */
	_Atomic unsigned *
		asked; /* where the family knows it while it is in force; a capture's, unless set after init */
	bool uses_ticks;
	int64_t usage_interval_ms; /* 0: no samples */
	struct recording_gpus gpus;
	size_t next_usage; /* the source whose turn it is to be looked at */
	struct collectors collectors; /* set before it is armed */
	struct family_meeter meeter;
	size_t n_met; /* children of the family that were looked at */
	unsigned n_deaf; /* children that did not answer: stopped */
	bool is_halted; /* the program was stopped, by SIGSTOP for one, when it ended */
	int64_t halted_ns; /* how long it was, about; of captures, and of a part of one: within that part */
	int64_t halt_looked_ns; /* CLOCK_MONOTONIC, when that was looked at last; 0: it is not looked at */
	bool was_halted; /* then */
	unsigned n_without_usage; /* children that there were no descriptors for */
	unsigned n_left_out; /* children that the capture had no memory for */
	int64_t asked_ns; /* CLOCK_MONOTONIC, when it was to begin; 0: at once */
	int64_t unix_offset_ns; /* Unix time less CLOCK_MONOTONIC; set before it is begun */
	int64_t start_unix_ns;
	uint64_t earliest_ticks; /* no record of this recording ended before */
	struct clock_pair armed; /* when it was */
	struct clock_pair begun; /* just before the processes were told to record */
	int64_t able_ns; /* CLOCK_MONOTONIC, since when the threads of all of them can */
	struct clock_pair start;
	int64_t end_ns; /* CLOCK_MONOTONIC: agreed upon, what is later is left out; INT64_MAX: none is */
	int64_t window_ns; /* since the start: of a part (recording_cut.h), nothing that ended earlier is in it */
	struct clock_pair stop;
	bool has_origin; /* the start of a part is where its trace begins; see part_origin.h */
	uint64_t
		settled_ticks; /* of a part: what any thread recorded until then is in it or in those before */
	int64_t last_pair_ns;
	int error; /* -ENOMEM: what there is is not complete */
};

/* |end_ns| since the start. */
int64_t recording_find_end(const struct recording *r);

/* Outcome of recording_arm() and recording_begin() besides 0 and negative ones: the program is gone. */
#define RECORDING_NO_TARGET 1

/* Raw slots, the model and the encoded bytes exist at once: together at most so many times the slots. */
#define RECORDING_BYTES_PER_SLOT_BYTE 5

/* |max_bytes| and |window_bytes| (0: the default): of the whole capture, and of slots before they are spooled. */
void recording_init(
	struct recording *r, struct family *f, uint64_t max_bytes, uint64_t window_bytes);
/* The same bounds, anew, of one that holds nothing yet. */
void recording_limit(struct recording *r, uint64_t max_bytes, uint64_t window_bytes);
/* All slots stay in memory, however many they are: somebody else sees to that. Before it begins. */
void recording_set_unlimited(struct recording *r);
void recording_deinit(struct recording *r);

/*
 * Prepares rings for |level|: until it begins (recording_start.h) nothing is recorded. |d| when a person can do something
 * about it.
 */
int recording_arm(struct recording *r, unsigned level, struct diag *d);
/* From here on children that join are met until it ends. Once, when the others have begun. */
void recording_meet(struct recording *r);
/* Before rings are looked at: so that it is known when what they hold was written. */
void recording_look_at_clock(struct recording *r);
/* Copies out what is new; returns how full the fullest ring was, in 1/1000. */
unsigned recording_visit(struct recording *r);
/* Between two looks whether the program is stopped, which take some 10 us each. */
#define RECORDING_HALT_LOOK_NS (INT64_C(20) * 1000 * 1000)
/* Adds to |halted_ns| how long the program was stopped since the last call; the first call adds nothing. */
void recording_look_at_halt(struct recording *r);
/* 0, -ETIMEDOUT when the program is stopped (what it has written is kept), or -ENOMEM. */
int recording_end(struct recording *r);
/*
 * Waits until all that is to be spooled is; to be called once, before sources are assembled. |look| (NULL ok) is called
 * meanwhile, on this thread, when the flight recorder is on: each millisecond, and when it is woken.
 */
void recording_finish(struct recording *r, void (*look)(void *), void *context);

#endif
