/* SPDX-License-Identifier: Apache-2.0 */
/* grpc.reflection.v1 and v1alpha: tools like grpcurl list the services and learn their messages. */
#ifndef DAEMON_REFLECTION_H
#define DAEMON_REFLECTION_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* One ServerReflectionRequest of an RPC_BIDI call: answers it. |context| is not used. */
void reflection_answer(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
