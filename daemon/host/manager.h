/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service manager that started this daemon, if one did: it is told how the daemon is (sd_notify(3)), and that it lives. The
 * protocol is a datagram of lines to the socket $NOTIFY_SOCKET, and is stable; libsystemd would be five more libraries in
 * each attached server, too, which is the same program.
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
	char status[MANAGER_STATUS_BYTES]; /* that it was told last */
};

/* Begins to tell that the loop goes round, if anybody wants to know ($WATCHDOG_USEC). 0, or libuv's error. */
int manager_open(struct manager *m, uv_loop_t *loop);

void manager_say_ready(struct manager *m);
/* manager_say_ready() ends it. */
void manager_say_reloading(struct manager *m);
/* It may take |limit_ms| from now, or more when it says so again. */
void manager_say_stopping(struct manager *m, int64_t limit_ms);
/* For people: what systemctl status shows. The same as before is not sent. */
void manager_say_status(struct manager *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
