/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROFTAP_PARENT=unix:PATH in the environment of a program with a server names its private socket,
 * for the programs that it starts: their servers register there (docs/internals/protocol.md,
 * "Subprocesses").
 */
#ifndef LIB_PARENT_H
#define LIB_PARENT_H

#include <stdbool.h>

struct arena;

/* Copies to |head|, for this process's server, the value that it inherited, not one that it set. */
void parent_describe(struct arena *head);

/*
 * Returns true if the environment may be changed: this process has one thread. The caller
 * must ask before it starts the library's own thread. The answer then stays true: that thread never
 * reads the environment, and no other one can start while the caller waits for its server.
 */
bool parent_may_be_announced(void);

/* Sets the variable to the server's private socket, if it has one. Not for signal handlers. */
void parent_announce(struct arena *arena);

#endif
