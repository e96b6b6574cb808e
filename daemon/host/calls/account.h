/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of one recording that a client asks of this daemon; the ledger gets it at the end.
 * The audit (audit.h) says what the client did; the account has the result in numbers.
 *
 * Data that the daemon itself adds to a trace (machine_part.h) is not counted.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_ACCOUNT_H
#define DAEMON_ACCOUNT_H

#include <stdint.h>

#include "daemon/host/calls/ledger.h"

struct ensemble;
struct rpc_pending;

struct account {
	struct ledger_entry entry;
	uint64_t id; /* of the program */
	int64_t began_ns; /* CLOCK_MONOTONIC */
	int is_complete; /* the trailer has come */
	int is_empty; /* the trailer says so */
};

/* Begins. |id| is the program's; 0: there are many, see account_end_all(). */
void account_begin(struct account *a, enum ledger_call call, uint64_t id);
/* Looks at the message that |from| has at hand, a proftap.v1.CaptureReply of the answer. */
void account_look(struct account *a, struct rpc_pending *from);
/*
 * Enters the recording, which has ended with gRPC's |status|. Without a trailer OK is a failure,
 * too.
 */
void account_end(struct account *a, struct ledger *ledger, int status);

/* Takes the numbers of member |i| of |e|, which has ended. Call it before the trace is stolen. */
void account_take_member(struct account *a, const struct ensemble *e, size_t i);
/* Says that the trace could not be written and is lost: account_end() enters a failure. */
void account_lose(struct account *a);

/*
 * Enters the recording of each member of |e|, which has ended. Call it before the traces are
 * stolen. |asked| says which call asked for all of them, and when. |is_cancelled|: the client went
 * away.
 */
void account_end_all(const struct account *asked, struct ledger *ledger, const struct ensemble *e,
	int is_cancelled);

#endif
