/* SPDX-License-Identifier: Apache-2.0 */
/* Why a call about a continuous session or the flight recorder failed, where that has reasons of its own; for failure.h. */
#ifndef CLIENT_SESSION_FAILURE_H
#define CLIENT_SESSION_FAILURE_H

#include <stdbool.h>

struct diag;
struct failure;

bool session_failure_is_one(const struct failure *f);
/* As failure_explain(). */
int session_failure_explain(const struct failure *f, struct diag *d);

#endif
