/* SPDX-License-Identifier: Apache-2.0 */
/* The server's hello in the arena: that it serves, and that it does no longer. */
#ifndef LIB_HELLO_H
#define LIB_HELLO_H

#include <stdint.h>

struct arena;
struct diag;

/* The server ended before; |d| has its last words, or none. */
#define HELLO_NEVER 1

/* Waits until the server |pid| (0: not known) serves, 10 s at most. 0, HELLO_NEVER, or a negative errno with |d|. */
int hello_wait(struct arena *arena, int32_t pid, struct diag *d);
/* Waits until it has closed its listener, which it does when it sees the control thread go; 2 s at most. */
void hello_wait_for_close(struct arena *arena, int32_t pid);

#endif
