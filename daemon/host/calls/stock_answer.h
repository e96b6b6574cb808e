/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a stock client's Profile or GetSnapshot: the traces of one or several programs, below 2 GiB. The trace of one
 * program is "xplane.pb", or in the field xspace, as the program's own server answers; several are a tool_data each,
 * HOSTNAME_NAME_PID.xplane.pb. Each program is asked by proftap.v1, so that its trace goes to a file without a name and is sent
 * from there; a unary answer that is passed on would be in memory as a whole.
 *
 * Threads: none inside; the errand's.
 */
#ifndef DAEMON_STOCK_ANSWER_H
#define DAEMON_STOCK_ANSWER_H

#include "daemon/host/calls/account.h"
#include "daemon/host/calls/ensemble.h"

struct errand;
struct program;

struct stock_answer {
	struct errand *errand;
	struct ensemble ensemble;
	struct account account;
};

/* NULL: there is no memory, and the call has been answered. */
struct stock_answer *stock_answer_new(struct errand *e);
void stock_answer_free(struct stock_answer *s);

/*
 * The order: all programs are added; then begin; then the caller starts the ensemble; then finish, which records and answers
 * the call.
 */
void stock_answer_add(struct stock_answer *s, const struct program *program);
void stock_answer_begin(struct stock_answer *s, enum ledger_call call);
void stock_answer_finish(struct stock_answer *s, int emit_xspace);

#endif
