/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to a target, for any number of calls. */
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
	int watch_fd; /* a second descriptor of the connection: has the peer spoken? */
};

#define LINK_INIT        \
	{                \
		NULL, -1 \
	}

/* |address| is made more exact by connecting. An enum exit_code, with |d| when it is not EXIT_DONE; close in every case. */
int link_open(struct link *l, struct address *address, struct diag *d);
void link_close(struct link *l);

/* A gRPC server speaks first, at once; one that has not since |started_ms| (CLOCK_MONOTONIC) is none, or is stopped. */
bool link_is_silent(const struct link *l, int64_t started_ms);

/* What |call|, over |l|, and the connection say about its failure, into |f|, which says what it was about; its texts are the call's. */
void link_describe_failure(const struct link *l, const struct rpc_pending *call, struct failure *f);

#endif
