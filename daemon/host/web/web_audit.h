/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit's lines (daemon/host/calls/audit.h) of requests that write, and of those that read what is not theirs: who, what, and why not. A capture that has begun has its own when it is
 * over (job_work.c).
 *
 * Threads: the loop's, unless it says otherwise.
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
/* One that was done. */
void web_audit_done(const struct http_exchange *x);

/* A run that was to be deleted since |begun_ns| (CLOCK_MONOTONIC), of |n_bytes|; |status| is gRPC's. Any thread. */
void web_audit_run_deleted(const struct caller *caller, const char *run, int status,
	const char *why, uint64_t n_bytes, int64_t begun_ns);

#endif
