/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EnumSessions and GetSessionToolData of tensorflow.ProfileAnalysis: the runs in the directory that
 * the operator named. Without one they are FAILED_PRECONDITION. NewSession is new_session.c. Rows
 * of service.c; the context is a struct service.
 */
#ifndef DAEMON_ANALYSIS_H
#define DAEMON_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct rpc_call;

void analysis_enum_sessions(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);
void analysis_get_data(struct rpc_call *call, const uint8_t *bytes, size_t n, void *service);

/* Answers |call| with what repository.h returned as |error|. */
void analysis_fail(struct rpc_call *call, int error, const struct diag *d);

#endif
