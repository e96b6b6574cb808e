/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monitor of tensorflow.ProfilerService: what the program does right now, in numbers and as a text for people. It measures
 * for the time that was asked for; where nobody else records it records steps (level 1) or steps and spans
 * (level 2), and stops as soon as somebody else wants to record. A row of service.c; the context is a struct service.
 */
#ifndef DAEMON_MONITOR_H
#define DAEMON_MONITOR_H

#include <stddef.h>
#include <stdint.h>

struct rpc_call;

void monitor_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

#endif
