/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a target, which serves any number of calls. */
#ifndef CLIENT_LINK_H
#define CLIENT_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct address;
struct diag;
struct failure;
struct rpc_channel;
struct rpc_pending;

struct link {
	struct rpc_channel *channel;
	/* A second descriptor of the connection, to see whether the peer has spoken. */
	int watch_fd;
};

#define LINK_INIT        \
	{                \
		NULL, -1 \
	}

/*
 * Connects to |address|. locate() replaces a pid or name in it, and dial() the host "localhost".
 * Returns an enum exit_code, with |d| unless it is EXIT_DONE. Call link_close() in either case.
 */
int link_open(struct link *l, struct address *address, struct diag *d);
void link_close(struct link *l);

/*
 * Returns true if the peer has sent nothing in the five seconds since |started_ms|
 * (CLOCK_MONOTONIC). A gRPC server sends a frame at once, so the peer is no such server, or is
 * stopped.
 */
bool link_is_silent(const struct link *l, int64_t started_ms);

/*
 * Completes |f|, in which the caller has described |call|, with the call's status and the state of
 * the connection. The texts of |f| belong to |call|.
 */
void link_describe_failure(const struct link *l, const struct rpc_pending *call, struct failure *f);

#endif
