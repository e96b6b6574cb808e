/* SPDX-License-Identifier: Apache-2.0 */
/* The server process, for the calls of this library that need one. All under the guest's lock. */
#ifndef LIB_SERVER_H
#define LIB_SERVER_H

#include <stdint.h>

struct diag;

/* Whether the environment has switched proftap off. */
int server_is_disabled(void);

/* Starts one that nobody can connect to, for this program's own traces. 0 or a negative errno with |d|. */
int server_start_private(struct diag *d);
void server_stop(void);

/*
 * Also true for a zombie, which kill() does not tell from the living where init is slow to reap, or never
 * does.
 */
int server_is_gone(int32_t pid);

/* What start and its siblings return for a negative errno of theirs: one of <proftap/error.h>. */
int server_to_public(int r);

#endif
