/* SPDX-License-Identifier: Apache-2.0 */
/* A row for each method of the host daemon: its request, its traits and its account. host_calls.h says who serves it. */
#ifndef DAEMON_HOST_METHOD_H
#define DAEMON_HOST_METHOD_H

#include "daemon/host/calls/ledger.h"

struct ProtobufCMessageDescriptor;
struct rpc_call;

enum {
	HOST_METHOD_BEGINS = 1, /* something that takes its time: not while the daemon ends */
	HOST_METHOD_BEGINS_SESSION = 2, /* of which its user's calls about sessions are then */
	/* It can name nobody, and means the program where its user began a session last. */
	HOST_METHOD_IS_ABOUT_SESSION = 4,
	/* And no more: who watches a program does it often, and it is audited only when it is refused. */
	HOST_METHOD_LOOKS = 8,
};

struct host_method {
	const char *path;
	const struct ProtobufCMessageDescriptor *request; /* NULL: it says nothing of interest */
	unsigned traits; /* HOST_METHOD_ */
	enum ledger_call ledger; /* of one that is answered by a trace */
};

/* The row of the method that |call| is for; the daemon serves it, so there is one. */
const struct host_method *host_method_of(const struct rpc_call *call);

/* Whether its request is a ProfileRequest, whose options may name a program. */
int host_method_has_options(const struct host_method *m);

#endif
