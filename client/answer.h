/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a Profile call: its XSpace goes to the run's temporary file and is decoded, so that
 * only what reads as a trace is published. Decoding may need much memory; a trace that is too large
 * for that is good enough.
 */
#ifndef CLIENT_ANSWER_H
#define CLIENT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/reply.h"

struct diag;
struct rpc_pending;
struct run_dir;
struct space;

struct answer {
	/* Given by the caller, borrowed. */
	const char *target;
	struct run_dir *run_dir;
	struct diag *d;

	/* Results. */
	struct reply reply;
	uint8_t *trace; /* the temporary file, mapped; NULL: no XSpace came */
	struct space *space; /* the same, decoded; NULL: nothing came, or memory ran out */
	bool is_broken; /* something came, and cannot be read: the temporary file has it */
};

/* An enum exit_code; when it is not EXIT_DONE, |d| says why. An empty trace is EXIT_DONE. */
int answer_read(struct answer *a, struct rpc_pending *profile);

bool answer_is_empty(const struct answer *a);

/* XSpace.hostnames[0], or "" when there is none. */
void answer_find_hostname(const struct answer *a, char *out, size_t n);

void answer_deinit(struct answer *a);

#endif
