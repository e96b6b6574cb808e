/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSpans of proftap.v1: a row of service.c. The context is a struct service. */
#ifndef DAEMON_OPEN_SPANS_CALL_H
#define DAEMON_OPEN_SPANS_CALL_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

void open_spans_call_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

#endif
