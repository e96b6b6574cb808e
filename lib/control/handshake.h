/* SPDX-License-Identifier: Apache-2.0 */
/* From an arena that a server has, to one that answers: the arena's head, the control thread, the hello. */
#ifndef LIB_HANDSHAKE_H
#define LIB_HANDSHAKE_H

struct diag;
struct launch;

/* The server ended before its hello; |d| has its last words, or none. */
#define HANDSHAKE_NO_SERVER 1

/*
 * Makes the server of l->spawn the one that serves. 0; HANDSHAKE_NO_SERVER; or a negative errno with |d|. Unless it is 0 only the
 * arena's first megabyte of addresses stays.
 */
int handshake_make(const struct launch *l, struct diag *d);

#endif
