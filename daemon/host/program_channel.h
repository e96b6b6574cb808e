/* SPDX-License-Identifier: Apache-2.0 */
/* A way into the server of a program that has announced itself. */
#ifndef DAEMON_PROGRAM_CHANNEL_H
#define DAEMON_PROGRAM_CHANNEL_H

#include <stdint.h>

struct diag;
struct programs;
struct rpc_channel;

/*
 * A channel into the server of |id|, with little memory for what comes; its calls say that they are passed on
 * (rpc_channel_set_target()). 0; -ESRCH: it is gone; or another negative errno, each with |d|. Owner: *out is the caller's.
 * Threads: any.
 */
int program_channel_open(struct programs *p, uint64_t id, struct rpc_channel **out, struct diag *d);

#endif
