/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The XSpace in a server's answer. It is written to the run's temporary file and checked there, so
 * that only a readable trace is published. A trace of any size takes little memory.
 */
#ifndef CLIENT_ANSWER_H
#define CLIENT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/outline.h"

struct diag;
struct rpc_pending;
struct run_dir;
struct stream_answer;

struct answer {
	/* Given by the caller, borrowed. */
	const char *target;
	struct run_dir *run_dir;
	const char *url; /* the log directory that the request named, if that is a URL; else NULL */
	/* The request named a directory for servers that write the trace themselves. */
	bool names_dir;
	/* Writes bytes of the trace to the file of |run_dir|. 0 or a negative errno with |d|. */
	int (*write)(const uint8_t *data, size_t n, void *context);
	void *context;
	struct diag *d;

	/* Results. */
	uint64_t xspace_bytes;
	bool is_empty_trace; /* the server says that the trace is empty */
	uint8_t *trace; /* the temporary file, mapped; NULL: no XSpace came */
	/* The outline of |trace|; its archive is NULL if nothing came or memory ran out. */
	struct outline outline;
	/* The path on the server's own disk, or the URL, of the trace that it wrote; or NULL. */
	char *elsewhere;
	bool is_broken; /* the temporary file has bytes that cannot be read */
};

/*
 * Writes a trace that came in one message, the reply to a Profile, to the file and reads it.
 * Returns an enum exit_code, with |d| unless it is EXIT_DONE. An empty trace is EXIT_DONE.
 */
int answer_read_reply(struct answer *a, struct rpc_pending *profile);
/* Reads a trace that came in chunks and is in the file already. */
int answer_read_stream(struct answer *a, const struct stream_answer *stream);

bool answer_is_empty(const struct answer *a);

/* Writes XSpace.hostnames[0], or "" when there is none. */
void answer_find_hostname(const struct answer *a, char *out, size_t n);

void answer_deinit(struct answer *a);

#endif
