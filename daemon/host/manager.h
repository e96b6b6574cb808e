/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the service manager that started this daemon, if one did, the state of the daemon
 * (sd_notify(3)) and that it lives. The protocol is a datagram of lines to the socket
 * $NOTIFY_SOCKET, and is stable. libsystemd would add five libraries to each attached server as
 * well, since both are the same program.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_MANAGER_H
#define DAEMON_MANAGER_H

#include <stdint.h>
#include <uv.h>

#define MANAGER_STATUS_BYTES 512

struct manager {
	uv_timer_t watchdog;
	char status[MANAGER_STATUS_BYTES]; /* the last one that was sent */
};

/*
 * Begins to send signs of life if the manager expects them ($WATCHDOG_USEC). 0, or libuv's error.
 */
int manager_open(struct manager *m, uv_loop_t *loop);

void manager_say_ready(struct manager *m);
/* Tells the manager that a reload begins. manager_say_ready() ends it. */
void manager_say_reloading(struct manager *m);
/* Tells the manager that the daemon ends within |limit_ms|. A later call may extend that time. */
void manager_say_stopping(struct manager *m, int64_t limit_ms);
/* Sets the status that systemctl status shows. An unchanged status is not sent again. */
void manager_say_status(struct manager *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
