/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM and SIGHUP, counted: the first asks for an early end, the second gives up.
 */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

#include <stdint.h>

struct pollfd;

/* From now on they are counted. Before any other thread is started; a second call does nothing. */
void interrupt_start(void);
int interrupt_get_count(void); /* any thread */

/*
 * poll() on |p| (NULL: just wait) that an interrupt ends. Returns 1 when p->revents says something, 0
 * when the time is over, -EINTR once for interrupts that came meanwhile, or another negative errno.
 */
int interrupt_poll(struct pollfd *p, int64_t timeout_ms);

#endif
