/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Profile that is asked of another server, of whatever make, and the trace that comes back. The
 * answer comes into memory as a whole, but only when it is asked for: until then it stays with its
 * server. From there it goes to a file. Everything that can go wrong is its |error|.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_REMOTE_PROFILE_H
#define DAEMON_REMOTE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/remote_trace.h"

struct diag;
struct disk_share;
struct rpc_channel;
struct rpc_pending;

/* All zero is the state before. */
struct remote_profile {
	char address[280]; /* "host:port", "unix:/path" */
	struct rpc_channel *channel;
	struct rpc_pending *call; /* NULL: none is under way */
	struct remote_trace trace; /* the XSpace */
	uint32_t trace_tag; /* of the field that the XSpace came in; 0: in none yet */
	int is_answered; /* a message was there */
	int is_empty; /* it said so */
	int status; /* gRPC's, of a call that has ended by itself */
	/* Facts that the trace tells: */
	uint64_t n_events;
	int64_t start_unix_ns; /* 0: it does not say */
	int64_t stop_unix_ns;
	/* For a snapshot: */
	int is_snapshot;
	int ends_session; /* behind it */
	int is_by_old_name; /* the server knows it by that alone */
	struct rpc_pending *ending; /* the request for an end */
	char remark[160]; /* what is to be said of a trace that is there; "": nothing */
	char error
		[512]; /* "": none; begins with the address; printable, whatever the other server said */
};

/* The first error stays. */
void remote_profile_fail(struct remote_profile *r, const char *text);

/* Over |channel| (taken; NULL: memory ran out). |bytes|: a ProfileRequest with emit_xspace. */
void remote_profile_start(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, const uint8_t *bytes, size_t n, struct disk_share *share);
/*
 * Asks the continuous session that runs there for its data, and, if it |ends|, for its end once the
 * data has come.
 */
void remote_profile_start_snapshot(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, int ends, struct disk_share *share);
/*
 * Asks for an early end of the Profile of |session_id|, with the data, and does not wait for the
 * answer.
 */
void remote_profile_ask_to_end(struct remote_profile *r, const char *session_id);
/* 1 when the server has begun to answer, or has ended the call; waits for it up to |wait_ms|. */
int remote_profile_has_begun(struct remote_profile *r, int64_t wait_ms);
/*
 * Takes the bytes of an answer, which remote_profile_read() does with what comes: its XSpace
 * becomes the trace. 0; -EBADMSG for what is no ProfileResponse, or another negative errno, with
 * |d| but for -ENOMEM.
 */
int remote_profile_feed(struct remote_profile *r, const uint8_t *reply, size_t n, struct diag *d);
/*
 * Takes the answer, up to 512 MiB, if it is there within |wait_ms|: 1. 0 when it is not yet, or the
 * call is over.
 */
int remote_profile_read(struct remote_profile *r, int64_t wait_ms);
int remote_profile_is_over(const struct remote_profile *r);
/* Gives the call up, if it is not over yet; |error| says so. */
void remote_profile_end(struct remote_profile *r);
void remote_profile_deinit(struct remote_profile *r);

#endif
