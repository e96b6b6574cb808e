/* SPDX-License-Identifier: Apache-2.0 */
/* The server process, for the calls of this library that need one. All under the guest's lock. */
#ifndef LIB_SERVER_H
#define LIB_SERVER_H

struct diag;

/* Whether the environment has switched proftap off. */
int server_is_disabled(void);

/* Starts one that nobody can connect to, for this program's own traces. 0 or a negative errno with |d|. */
int server_start_private(struct diag *d);
void server_stop(void);

/* What start and its siblings return for a negative errno of theirs: one of <proftap/error.h>. */
int server_to_public(int r);

#endif
