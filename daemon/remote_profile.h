/* SPDX-License-Identifier: Apache-2.0 */
/* A Profile that is asked of another server, and the trace that comes back. Everything that can go wrong is its |error|. */
#ifndef DAEMON_REMOTE_PROFILE_H
#define DAEMON_REMOTE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct delivery;
struct rpc_channel;
struct rpc_pending;

struct remote_profile {
	char address[280]; /* "host:port", "unix:/path" */
	struct rpc_channel *channel;
	struct rpc_pending *pending; /* NULL: none is under way */
	struct delivery *trace; /* the XSpace; NULL: none came */
	int is_empty; /* it said so */
	char error
		[480]; /* "": none; begins with the address; printable, whatever the other server said */
};

void remote_profile_fail(struct remote_profile *r, const char *text);

/* |bytes|: a ProfileRequest with emit_xspace. All zero is the state before. |timeout_ms| < 0: none. */
void remote_profile_start(struct remote_profile *r, const char *address, const uint8_t *bytes,
	size_t n, int64_t timeout_ms);
/* Waits up to |wait_ms|. 1 when the call has ended, or none is under way. */
int remote_profile_wait(struct remote_profile *r, int64_t wait_ms);
/* Ends the call, if need be without its data, and reads what came. */
void remote_profile_end(struct remote_profile *r);
void remote_profile_deinit(struct remote_profile *r);

#endif
