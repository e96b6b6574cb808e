/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool is a child process that runs `proftap`, which makes reports and other formats from runs.
 * It is a process of its own because it maps files that others may change, and needs time and
 * memory in proportion to their size: if it fails, the daemon lives on.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_TOOL_H
#define DAEMON_TOOL_H

#include <stdint.h>
#include <uv.h>

#include "base/diag.h"

struct tool;

/* Time limit of each tool. Less than HTTP_ANSWER_MS, the limit of the HTTP server. */
#define TOOL_PATIENCE_MS 50000

struct tool_outcome {
	int status; /* gRPC's: 0, or with |diag| */
	struct diag diag;
	int fd; /* its output, a file without a name that the callback owns; -1: none */
	uint64_t n_bytes;
};

/*
 * Starts a tool in the directory |cwd|. |argv| begins after the program's name and ends with NULL.
 * |ended| is called once. Returns NULL with |d| if the tool cannot be started; then |ended| is not
 * called.
 */
struct tool *tool_start(uv_loop_t *loop, const char *cwd, const char *const *argv,
	void (*ended)(void *context, struct tool_outcome *outcome), void *context, struct diag *d);

/* Kills the tool, whose |ended| is not called any more. */
void tool_abandon(struct tool *t);

#endif
