/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way from an arena that a server has to a server that serves: the arena's head, the control
 * thread, the server's hello; and the wait for its close.
 */
#ifndef LIB_HANDSHAKE_H
#define LIB_HANDSHAKE_H

#include <stdint.h>

struct arena;
struct diag;
struct launch;

/* The server ended before its hello; |d| has its last message, which may be empty. */
#define HANDSHAKE_NO_SERVER 1

/*
 * Makes the server of l->spawn the one that serves. 0; HANDSHAKE_NO_SERVER; or a negative errno
 * with |d|. Unless the result is 0, only the first megabyte of the arena's addresses stays
 * reserved.
 */
int handshake_make(const struct launch *l, struct diag *d);

/*
 * Waits until the server |pid| (0: unknown) has closed its listener, which it does when it sees the
 * control thread go; 2 s at most.
 */
void handshake_wait_for_close(struct arena *arena, int32_t pid);

#endif
