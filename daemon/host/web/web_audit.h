/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit's lines (daemon/host/calls/audit.h) of HTTP requests that write, and of those that read
 * something of another user. job_work.c writes the line of a capture at its end.
 *
 * Threads: the loop's, unless a comment says otherwise.
 */
#ifndef DAEMON_WEB_AUDIT_H
#define DAEMON_WEB_AUDIT_H

#include <stdint.h>

struct caller;
struct http_exchange;

/* Writes the line of a request that was refused: |code| is gRPC's name for the reason. */
void web_audit_refused(const struct http_exchange *x, const char *code, const char *why);
/*
 * Writes the line of a read that got |status|, if the program or run does not exist or is not this
 * caller's.
 */
void web_audit_not_read(const struct http_exchange *x, int status, const char *why);
/* Writes the line of a request that succeeded. */
void web_audit_done(const struct http_exchange *x);

/*
 * Writes the line of a run's deletion, which began at |begun_ns| (CLOCK_MONOTONIC) and removed
 * |n_bytes|. |status| is gRPC's. Any thread may call it.
 */
void web_audit_run_deleted(const struct caller *caller, const char *run, int status,
	const char *why, uint64_t n_bytes, int64_t begun_ns);

#endif
