/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this daemon has done, in numbers that only grow: captures by what asked for them and what became of them, how long they took and how
 * large they were; what its own measuring costs. A program's own are in struct program, and go with it.
 *
 * Threads: any.
 */
#ifndef DAEMON_LEDGER_H
#define DAEMON_LEDGER_H

#include <pthread.h>
#include <stdint.h>

/* What asked. */
enum ledger_call {
	LEDGER_CAPTURE,
	LEDGER_SNAPSHOT,
	LEDGER_STOP,
	LEDGER_PROFILE,
	LEDGER_WEB,
	N_LEDGER_CALLS
};

enum ledger_result {
	LEDGER_OK,
	LEDGER_EMPTY,
	LEDGER_BUSY, /* somebody else recorded */
	LEDGER_REFUSED, /* it was wrong, or not allowed, or too much */
	LEDGER_CANCELLED, /* whoever asked went away */
	LEDGER_FAILED,
	N_LEDGER_RESULTS
};

/* For people and labels: "capture", "ok". Static. */
const char *ledger_name_call(enum ledger_call call);
const char *ledger_name_result(enum ledger_result result);

/* One program, recorded once. */
struct ledger_entry {
	enum ledger_call call;
	enum ledger_result result;
	int64_t took_ns; /* from the request to the answer's end */
	uint64_t trace_bytes;
	uint64_t n_events;
	uint64_t n_dropped;
};

#define LEDGER_BOUNDS 10

/* Of values up to each of the bounds, and above all. */
struct ledger_histogram {
	uint64_t counts[LEDGER_BOUNDS + 1];
	uint64_t sum;
};

extern const uint64_t ledger_duration_bounds_ns[LEDGER_BOUNDS];
extern const uint64_t ledger_size_bounds_bytes[LEDGER_BOUNDS];

struct ledger_sums {
	uint64_t n[N_LEDGER_CALLS][N_LEDGER_RESULTS];
	uint64_t trace_bytes;
	uint64_t n_events;
	uint64_t n_dropped;
	struct ledger_histogram duration; /* ns, of those with a trace */
	struct ledger_histogram size; /* bytes, of the same */
	uint64_t n_samples; /* of what the machine uses */
	uint64_t sample_ns; /* processor time of these */
};

struct programs;

struct ledger {
	struct programs *programs; /* borrowed */
	pthread_mutex_t mutex;
	struct ledger_sums sums; /* under mutex */
};

void ledger_init(struct ledger *l, struct programs *programs);
/* It was of the program |id|, which has it in its own sums, too, if it is there still. */
void ledger_add(struct ledger *l, uint64_t id, const struct ledger_entry *entry);
void ledger_add_sample(struct ledger *l, int64_t took_ns);
void ledger_get(struct ledger *l, struct ledger_sums *out);

/* What a gRPC |status| other than OK is. */
enum ledger_result ledger_judge(int status);

#endif
