/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's one thread. It sleeps on one futex word of the arena, does the server's commands,
 * and learns of the server's death from the same word. While idle it never wakes.
 */
#ifndef LIB_CONTROL_H
#define LIB_CONTROL_H

/* Starts the thread for guest_get()->arena. 0 or a negative errno. Under the guest's lock. */
int control_start(void);
/* Ends and joins the thread; recording stops. Under the guest's lock. Idempotent. */
void control_stop(void);

#endif
