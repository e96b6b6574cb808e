/* SPDX-License-Identifier: Apache-2.0 */
/* Why a call failed where a host daemon is the reason; for failure.h. */
#ifndef CLIENT_HOST_FAILURE_H
#define CLIENT_HOST_FAILURE_H

#include <stdbool.h>

struct diag;
struct failure;

/* Whether the daemon refused it because it does not know which program is meant. */
bool host_failure_is_choice(const struct failure *f);

/* As failure_explain(). */
int host_failure_explain_choice(const struct failure *f, struct diag *d);

/*
 * The same where the daemon is gone. A program that dies is no reason: its server delivers, and the daemon passes that on. Where the daemon is
 * not on this machine, it may be the machine. |outcome|: what became of the trace, as "; nothing was written".
 */
int host_failure_explain_lost(const struct failure *f, const char *outcome, struct diag *d);

#endif
