/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server process, for the calls of this library that need one. Start and stop run under the
 * guest's lock.
 */
#ifndef LIB_SERVER_H
#define LIB_SERVER_H

#include <stdbool.h>

struct diag;

/* Whether the environment has switched proftap off. */
bool server_is_disabled(void);

/*
 * Starts a server without a listener, for this program's own traces. 0 or a negative errno with
 * |d|.
 */
int server_start_private(struct diag *d);
void server_stop(void);

/* Maps a negative errno to the one of <proftap/error.h> that the public calls return for it. */
int server_to_public(int r);

#endif
