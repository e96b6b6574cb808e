/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of one recording that somebody asks of this daemon: at its end it is entered in the ledger. What he did is said by the audit
 * (audit.h); this is what came of it, in numbers.
 *
 * What the daemon itself adds to a trace (machine_part.h) is not counted.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_ACCOUNT_H
#define DAEMON_ACCOUNT_H

#include <stdint.h>

#include "daemon/host/ledger.h"

struct ensemble;
struct rpc_pending;

struct account {
	struct ledger_entry entry;
	uint64_t id; /* of the program */
	int64_t began_ns; /* CLOCK_MONOTONIC */
	int is_complete; /* the trailer has come */
	int is_empty; /* it said so */
};

/* |id|: of the program; 0: of many, see account_end_all(). */
void account_begin(struct account *a, enum ledger_call call, uint64_t id);
/* The message at hand is one of the answer's, a proftap.v1.CaptureReply. */
void account_look(struct account *a, struct rpc_pending *from);
/* It has ended with gRPC's |status|; without a trailer OK is a failure, too. */
void account_end(struct account *a, struct ledger *ledger, int status);

/* What is known of member |i| of |e|, which has ended, before its trace is stolen. */
void account_take_member(struct account *a, const struct ensemble *e, size_t i);
/* Its trace is lost after all, as it could not be written: account_end() counts a failure. */
void account_lose(struct account *a);

/*
 * The same for each member of |e|, which has ended, before its traces are stolen. |asked| says how, and when, all of them were
 * asked for. |is_cancelled|: whoever did went away.
 */
void account_end_all(const struct account *asked, struct ledger *ledger, const struct ensemble *e,
	int is_cancelled);

#endif
