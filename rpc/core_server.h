/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC's own server object, with what its peers may ask of it. */
#ifndef RPC_CORE_SERVER_H
#define RPC_CORE_SERVER_H

#include <grpc/grpc.h>

/* Owner: grpc_server_destroy(). */
grpc_server *core_server_new(void);

#endif
