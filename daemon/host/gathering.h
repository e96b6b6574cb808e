/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile of tensorflow.ProfilerService at the host daemon: of all programs that it means (meant.h), at one instant. Each is asked by
 * Capture (proftap.v1), so that its trace goes to a file without a name; from there all are one answer, of at most 2 GiB: of one
 * program "xplane.pb", or xspace, as its own server says it; of several a tool_data each, HOSTNAME_NAME_PID.xplane.pb.
 */
#ifndef DAEMON_GATHERING_H
#define DAEMON_GATHERING_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

/* A row of the table of methods. The context is a struct host_service. */
void gathering_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

#endif
