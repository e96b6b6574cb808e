/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `proftap` as a program beside this one: it reads runs, and makes reports and other formats of them. A process of its own, because it maps
 * files that others may change, takes as long and as much memory as they are large, and must not take the daemon with it.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_TOOL_H
#define DAEMON_TOOL_H

#include <stdint.h>
#include <uv.h>

#include "base/diag.h"

struct tool;

/* For each; HTTP waits little longer. */
#define TOOL_PATIENCE_MS 50000

struct tool_outcome {
	int status; /* gRPC's: 0, or with |diag| */
	struct diag diag;
	int fd; /* a file without a name: what it printed; the taker's; -1: nothing */
	uint64_t n_bytes;
};

/*
 * Starts it with |argv|, which begins behind its name and ends with NULL, in the directory |cwd|. |ended| is called once. NULL with |d|: it could
 * not be started, and |ended| is not called.
 */
struct tool *tool_start(uv_loop_t *loop, const char *cwd, const char *const *argv,
	void (*ended)(void *context, struct tool_outcome *outcome), void *context, struct diag *d);

/* |ended| is not called any more; it is killed. */
void tool_abandon(struct tool *t);

#endif
