/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM and SIGHUP, counted: the first asks for an early end, the second gives up.
 */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pollfd;

/* From now on they are counted. Before any other thread is started; a second call does nothing. */
void interrupt_start(void);
/*
 * The same for a client that runs the program |pid|: while that lives, nothing is counted, and signals that somebody
 * sends to us go on to it, SIGQUIT, SIGUSR1 and SIGUSR2 included. 0: it has ended.
 */
void interrupt_forward(pid_t pid);
/* Blocks what interrupt_forward() will take, so that nothing is lost while the program is being started. */
void interrupt_hold(sigset_t *before);
int interrupt_get_count(void); /* any thread */
/* Whether it is another now than |n_before|, an int. Any thread; for struct view_stop. */
bool interrupt_came_since(const void *n_before);

/*
 * poll() on |p| (NULL: just wait) that an interrupt ends. Returns 1 when p->revents says something, 0
 * when the time is over, -EINTR once for interrupts that came meanwhile, or another negative errno. Of several
 * threads that wait, one is sure to get it.
 */
int interrupt_poll(struct pollfd *p, int64_t timeout_ms);

/* Waits a moment for signals that have come and are not counted yet, as they are behind something that the same key ended. */
void interrupt_settle(void);

#endif
