/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The XSpace that a server answered with: it goes to the run's temporary file and is read there, so that only what
 * reads as a trace is published. That takes little memory, however large it is.
 */
#ifndef CLIENT_ANSWER_H
#define CLIENT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/xspace/outline.h"

struct diag;
struct rpc_pending;
struct run_dir;
struct stream_answer;

struct answer {
	/* Given by the caller, borrowed. */
	const char *target;
	struct run_dir *run_dir;
	const char *url; /* the log directory that the request named instead; NULL: it named none */
	bool names_place; /* the request named the run's directory, as a place for the server, too */
	/* Writes the trace of a reply to the file of |run_dir|; a negative errno with |d| otherwise. */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;
	struct diag *d;

	/* Results. */
	uint64_t xspace_bytes;
	bool is_empty_trace; /* the server says so */
	uint8_t *trace; /* the temporary file, mapped; NULL: no XSpace came */
	struct outline
		outline; /* of the same; its space is NULL: nothing came, or memory ran out */
	char *elsewhere; /* the server kept the trace: where, on its own disk; else NULL */
	bool is_broken; /* something came, and cannot be read: the temporary file has it */
};

/*
 * What came in one message, as the reply to a Profile, is written to the file and read. An enum exit_code; when it is
 * not EXIT_DONE, |d| says why. An empty trace is EXIT_DONE.
 */
int answer_read_reply(struct answer *a, struct rpc_pending *profile);
/* The same of what came in parts, and is in the file. */
int answer_read_stream(struct answer *a, const struct stream_answer *stream);

bool answer_is_empty(const struct answer *a);

/* XSpace.hostnames[0], or "" when there is none. */
void answer_find_hostname(const struct answer *a, char *out, size_t n);

void answer_deinit(struct answer *a);

#endif
