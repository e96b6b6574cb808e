/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts Ctrl-C, SIGTERM and SIGHUP: the first asks for an early end, the second gives up.
 */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pollfd;

/* Begins to count signals. Call it before any other thread starts; a second call does nothing. */
void interrupt_start(void);
/*
 * Like interrupt_start(), for a client that runs the program |pid|. While the program lives,
 * nothing is counted, and signals that another process sends to us are passed on to the program,
 * including SIGQUIT, SIGUSR1 and SIGUSR2. Call it with 0 when the program has ended.
 */
void interrupt_forward(pid_t pid);
/*
 * Blocks the signals that interrupt_forward() handles, so that none is lost while the program is
 * being started.
 */
void interrupt_hold(sigset_t *before);
int interrupt_get_count(void); /* Any thread may call it. */
/*
 * Returns true if the count differs from *n_before, an int. Any thread may call it; the signature
 * is that of struct view_stop.
 */
bool interrupt_came_since(const void *n_before);

/*
 * Calls poll() on |p| (NULL: just wait); an interrupt ends the call. Returns 1 when p->revents is
 * set, 0 when the time is over, -EINTR once for the interrupts that came meanwhile, or another
 * negative errno. If several threads wait, at least one of them gets -EINTR.
 */
int interrupt_poll(struct pollfd *p, int64_t timeout_ms);

/*
 * Waits a moment for signals that are pending and not counted yet. Use it when a child has ended
 * and the same Ctrl-C may have ended it.
 */
void interrupt_settle(void);

#endif
