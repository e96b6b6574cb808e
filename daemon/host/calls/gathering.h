/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces for a stock client, in one answer of less than 2 GiB: of one program "xplane.pb", or xspace, as its own server says it; of
 * several a tool_data each, HOSTNAME_NAME_PID.xplane.pb. Each program is asked by proftap.v1, so that its trace goes to a file without a
 * name, and is sent from there; a unary answer that is passed on would be in memory as a whole.
 *
 * Threads: none inside; the errand's.
 */
#ifndef DAEMON_GATHERING_H
#define DAEMON_GATHERING_H

#include "daemon/host/calls/account.h"
#include "daemon/host/calls/ensemble.h"

struct errand;
struct program;

struct gathering {
	struct errand *errand;
	struct ensemble ensemble;
	struct account account;
};

/* NULL: there is no memory, and the call has been answered. */
struct gathering *gathering_new(struct errand *e);
void gathering_free(struct gathering *g);

/* First all programs; then |g| is begun; then the ensemble is, by its caller; then the rest is gathered, and the call answered. */
void gathering_add(struct gathering *g, const struct program *program);
void gathering_begin(struct gathering *g, enum ledger_call call);
void gathering_finish(struct gathering *g, int emit_xspace);

#endif
