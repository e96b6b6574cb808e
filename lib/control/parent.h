/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROFTAP_PARENT=unix:PATH: in the environment of a program with a server its private socket, for the programs that it
 * starts; their servers tell it of themselves (docs/internals/protocol.md, "Subprocesses").
 */
#ifndef LIB_PARENT_H
#define LIB_PARENT_H

struct arena;

/* Copies what this process was given, not what it announced itself, for its server. */
void parent_describe(struct arena *head);

/*
 * Whether the environment may be changed: libc says that there is one thread. To be asked before the library's own is
 * started, which never looks there; while the caller waits for its server nobody can start another.
 */
int parent_may_be_announced(void);

/* Sets the variable to the server's private socket, if it has one. Not from a signal handler. */
void parent_announce(struct arena *arena);

#endif
