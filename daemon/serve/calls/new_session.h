/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NewSession of tensorflow.ProfileAnalysis: one capture of many hosts, which clients of the "cloud TPU" path ask of the first
 * of them. This server records itself and asks the others by Profile; each host's trace goes into one run of the
 * directory that the operator named. Without one it is FAILED_PRECONDITION. A row of service.c.
 */
#ifndef DAEMON_NEW_SESSION_H
#define DAEMON_NEW_SESSION_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

void new_session_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

#endif
