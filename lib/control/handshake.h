/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps between the server's receipt of the arena and a server that serves: the arena's head,
 * the control thread, the server's hello. Also the wait until a server has closed its listener.
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
 * Waits until the server |pid| (0: unknown) has closed its listener, which it does when it sees
 * that the control thread has ended. Waits 2 s at most.
 */
void handshake_wait_for_close(struct arena *arena, int32_t pid);

#endif
