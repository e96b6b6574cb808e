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

/* Copies the value that this process inherited, not the one that it set itself, for its server. */
void parent_describe(struct arena *head);

/*
 * Whether the environment may be changed: libc says that there is one thread. The caller must ask
 * before it starts the library's own thread, which never reads the environment; while the caller
 * waits for its server no other thread can start.
 */
bool parent_may_be_announced(void);

/* Sets the variable to the server's private socket, if it has one. Not for signal handlers. */
void parent_announce(struct arena *arena);

#endif
