/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger counts the work of this daemon in numbers that only grow: captures by call and result,
 * their durations and sizes, and the cost of sampling the machine. The sums of one program are in
 * its struct program, and are freed with it. An account becomes one entry of the ledger.
 *
 * Threads: any for the ledger; one at a time for an account.
 */
#ifndef DAEMON_LEDGER_H
#define DAEMON_LEDGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ensemble;
struct programs;
struct rpc_pending;

/* The call that asked for the capture. */
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
	LEDGER_BUSY, /* another client was recording */
	LEDGER_REFUSED, /* the request was wrong, not allowed, or too large */
	LEDGER_CANCELLED, /* the client went away */
	LEDGER_FAILED,
	N_LEDGER_RESULTS
};

/* Return static words for people and labels: "capture", "ok". */
const char *ledger_name_call(enum ledger_call call);
const char *ledger_name_result(enum ledger_result result);

/* One recording of one program. */
struct ledger_entry {
	enum ledger_call call;
	enum ledger_result result;
	int64_t took_ns; /* from the request to the end of its answer */
	uint64_t trace_bytes;
	uint64_t n_events;
	uint64_t n_dropped;
};

#define LEDGER_BOUNDS 10

/* Counts of the values up to each bound but above the one before, and of those above all bounds. */
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
	struct ledger_histogram duration; /* ns, of captures with a trace */
	struct ledger_histogram size; /* bytes, of captures with a trace */
	uint64_t n_samples; /* of the machine's usage */
	uint64_t sample_ns; /* processor time of the samples */
};

struct ledger {
	struct programs *programs; /* borrowed */
	pthread_mutex_t mutex;
	struct ledger_sums sums; /* under mutex */
};

void ledger_init(struct ledger *l, struct programs *programs);
void ledger_add_sample(struct ledger *l, int64_t took_ns);
void ledger_get(struct ledger *l, struct ledger_sums *out);

/* --- accounts --------------------------------------------------------------------------------- */

/*
 * The account of one recording that a client asks of this daemon. The audit (audit.h) has the
 * client's action; the account has its result in numbers. It does not count data that the daemon
 * itself adds to a trace (machine_part.h).
 */
struct account {
	struct ledger_entry entry;
	uint64_t id; /* of the program */
	int64_t began_ns; /* CLOCK_MONOTONIC */
	bool is_complete; /* the trailer has come */
	bool is_empty; /* the trailer says that nothing was recorded */
};

/* Begins an account of the program |id|; 0: of many programs, see account_end_all(). */
void account_begin(struct account *a, enum ledger_call call, uint64_t id);
/* Reads the message that |from| has at hand, a proftap.v1.CaptureReply of the answer. */
void account_read_message(struct account *a, struct rpc_pending *from);
/*
 * Enters the recording, which has ended with gRPC's |status|. Without a trailer, OK counts as a
 * failure, too.
 */
void account_end(struct account *a, struct ledger *ledger, int status);

/* Takes the numbers of member |i| of |e|, which has ended. Call it before the trace is stolen. */
void account_take_member(struct account *a, const struct ensemble *e, size_t i);
/* Notes that the trace could not be written and is lost: account_end() enters a failure. */
void account_lose(struct account *a);

/*
 * Enters the recording of each member of |e|, which has ended. Call it before the traces are
 * stolen. |asked| has the kind and the time of the call that asked for all of them. |is_cancelled|:
 * the client went away.
 */
void account_end_all(const struct account *asked, struct ledger *ledger, const struct ensemble *e,
	bool is_cancelled);

#endif
