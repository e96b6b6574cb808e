/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are passed on to the server of the program that they mean (call_target.h): the request as it is,
 * and each message of the answer in the slices in which it comes (rpc/relay.h).
 */
#ifndef DAEMON_PASSING_H
#define DAEMON_PASSING_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* A row of the table of methods. The context is a struct host_service. */
void passing_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
