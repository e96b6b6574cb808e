/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to the servers of programs. */
#ifndef DAEMON_PROGRAM_CHANNEL_H
#define DAEMON_PROGRAM_CHANNEL_H

#include <stdint.h>

struct diag;
struct programs;
struct rpc_channel;
struct rpc_pending;

/*
 * Opens a channel to the server of the program |id|, with little memory for the server's answers.
 * Calls on the channel say that they are passed on (rpc_channel_set_target()). 0; -ESRCH: the
 * program is gone; or another negative errno, each with |d|. Owner: *out is the caller's. Threads:
 * any.
 */
int program_channel_open(struct programs *p, uint64_t id, struct rpc_channel **out, struct diag *d);

/*
 * Returns how |call|, which is over, ended: RPC_OK, or another enum rpc_status, and then |d| has
 * the server's sentence. A number that gRPC does not know is RPC_UNKNOWN.
 */
int program_channel_get_status(const struct rpc_pending *call, struct diag *d);

#endif
