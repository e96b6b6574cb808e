/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GetSnapshot of tensorflow.ProfilerService at the host daemon: what the session has that its user began last, or the flight recorder of
 * the program that is meant (call_target.h); as an answer of stock_answer.h. One that has a name is passed on: its program's server may write it to
 * a file.
 */
#ifndef DAEMON_HOST_SNAPSHOT_H
#define DAEMON_HOST_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* Rows of the table of methods. The context is a struct host_service. */
void host_snapshot_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
/* Whose request says nothing. */
void host_snapshot_handle_old(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
