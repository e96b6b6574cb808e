/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C, SIGTERM and SIGHUP, counted: the first asks for an early end, the second gives up. System
 * calls that wait return EINTR, so that whoever waits looks at the count.
 */
#ifndef CLIENT_INTERRUPT_H
#define CLIENT_INTERRUPT_H

void interrupt_start(void);
int interrupt_get_count(void);

#endif
