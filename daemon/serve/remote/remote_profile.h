/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Profile or a GetSnapshot by another server, proftap's or any other, and its trace. The answer
 * stays with that server until it is read. Then it comes into memory as a whole, and from there
 * into a file.
 * Every failure is a text in |error|.
 *
 * Threads: starts none; only one thread at a time may use an object.
 */
#ifndef DAEMON_REMOTE_PROFILE_H
#define DAEMON_REMOTE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/remote_trace.h"

struct diag;
struct disk_share;
struct rpc_channel;
struct rpc_pending;

/* A struct of zeros is the state before the start. */
struct remote_profile {
	char address[280]; /* "host:port", "unix:/path" */
	struct rpc_channel *channel;
	struct rpc_pending *call; /* NULL: none is under way */
	struct remote_trace trace; /* the XSpace */
	uint32_t trace_tag; /* the tag of the field with the XSpace; 0: none has come */
	bool is_answered; /* a message has come */
	bool is_empty; /* |empty_trace| in the answer */
	int status; /* gRPC's, if the call has ended by itself */
	/* Values from the trace: */
	uint64_t n_events;
	int64_t start_unix_ns; /* 0: not known */
	int64_t stop_unix_ns;
	/* For a snapshot: */
	bool is_snapshot;
	bool ends_session; /* the session must end after the snapshot */
	bool is_by_old_name; /* the server knows only the older name of the call */
	struct rpc_pending *ending; /* the request for an end */
	char remark[160]; /* a warning about a complete trace; "": none */
	/* "": none; begins with the address; printable, even if the other server's text is not */
	char error[512];
};

/* Sets the error, unless there is one already. */
void remote_profile_fail(struct remote_profile *r, const char *text);

/*
 * Sends a request over |channel| (taken; NULL: memory ran out). |bytes| is a ProfileRequest with
 * emit_xspace.
 */
void remote_profile_start(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, const uint8_t *bytes, size_t n, struct disk_share *share);
/*
 * Requests the data of the server's running continuous session, and, with |ends|, the session's end
 * after the data has come.
 */
void remote_profile_start_snapshot(struct remote_profile *r, const char *address,
	struct rpc_channel *channel, bool ends, struct disk_share *share);
/*
 * Requests an early end of the Profile of |session_id|, with the data, and does not wait for the
 * answer.
 */
void remote_profile_ask_to_end(struct remote_profile *r, const char *session_id);
/* Returns true if the server has begun to answer or has ended the call. Waits up to |wait_ms|. */
bool remote_profile_has_begun(struct remote_profile *r, int64_t wait_ms);
/*
 * Reads the bytes of an answer, whose XSpace becomes the trace; called by remote_profile_read(). 0;
 * -EBADMSG if they are not a ProfileResponse; or another negative errno, with |d| except for
 * -ENOMEM.
 */
int remote_profile_feed(struct remote_profile *r, const uint8_t *reply, size_t n, struct diag *d);
/*
 * Reads the answer, up to 512 MiB, if it comes within |wait_ms|. Returns true if it came, or
 * GetSnapshot was called again by its old name.
 */
bool remote_profile_read(struct remote_profile *r, int64_t wait_ms);
bool remote_profile_is_over(const struct remote_profile *r);
/* Ends the call. Sets |error| if it had to be cancelled or has failed. */
void remote_profile_end(struct remote_profile *r);
void remote_profile_deinit(struct remote_profile *r);

#endif
