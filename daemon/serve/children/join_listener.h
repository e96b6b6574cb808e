/* SPDX-License-Identifier: Apache-2.0 */
/* The socket that forked children come to (lib/wire/join.h). */
#ifndef DAEMON_JOIN_LISTENER_H
#define DAEMON_JOIN_LISTENER_H

#include "lib/wire/join.h"

/* A listening socket under a name that nobody guesses, for |backlog| at a time; or a negative errno. */
int join_listener_open(char name[JOIN_NAME_BYTES], int backlog);

#endif
