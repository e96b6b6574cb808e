/* SPDX-License-Identifier: Apache-2.0 */
/* Why a tunnel could not be opened, of what ssh said last, and what to do about it. */
#ifndef CLIENT_TUNNEL_FAILURE_H
#define CLIENT_TUNNEL_FAILURE_H

struct diag;
struct ssh;

/* |ssh| has ended. An enum exit_code other than EXIT_DONE, with |d|. */
int tunnel_failure_explain(struct ssh *ssh, const char *destination, struct diag *d);

#endif
