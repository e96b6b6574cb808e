/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications to the service manager; see manager.h. */
#include "daemon/host/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"

/* 0, or -ENOENT: there is no manager. "@" stands for the byte 0 of an abstract name. */
static int manager_find_address(struct sockaddr_un *address, socklen_t *n_bytes)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path ? strlen(path) : 0;

	if (n < 2 || n >= sizeof address->sun_path || (path[0] != '/' && path[0] != '@'))
		return -ENOENT;
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, path, n);
	if (path[0] == '@')
		address->sun_path[0] = '\0';
	*n_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	return 0;
}

static void manager_send(const char *lines)
{
	struct sockaddr_un address;
	socklen_t n_bytes;
	_cleanup_close_ int fd = -1;

	if (manager_find_address(&address, &n_bytes))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || sendto(fd, lines, strlen(lines), MSG_NOSIGNAL,
			      (const struct sockaddr *)&address, n_bytes) < 0)
		log_debug(LOG_LISTEN, "NOTIFY_SOCKET: %s", errno_words(-errno));
}

/* --- the watchdog ----------------------------------------------------------------------------- */

static void on_watchdog(uv_timer_t *timer)
{
	(void)timer;
	manager_send("WATCHDOG=1");
}

/* Returns half of the time that the manager waits for a sign of life; 0: it expects none. */
static uint64_t find_watchdog_ms(void)
{
	const char *pid = getenv("WATCHDOG_PID");
	const char *us = getenv("WATCHDOG_USEC");

	if (!us || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(us, NULL, 10) / 2000;
}

int manager_open(struct manager *m, uv_loop_t *loop)
{
	uint64_t ms = find_watchdog_ms();
	int r = uv_timer_init(loop, &m->watchdog);

	m->status[0] = '\0';
	if (!r && ms)
		r = uv_timer_start(&m->watchdog, on_watchdog, ms, ms);
	return r;
}

/* --- states ----------------------------------------------------------------------------------- */

void manager_say_ready(struct manager *m)
{
	(void)m;
	manager_send("READY=1");
}

void manager_say_reloading(struct manager *m)
{
	char lines[64];

	(void)m;
	snprintf(
		lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, monotonic_ns() / 1000);
	manager_send(lines);
}

void manager_say_stopping(struct manager *m, int64_t limit_ms)
{
	char lines[80];

	(void)m;
	snprintf(lines, sizeof lines, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRId64, limit_ms * 1000);
	manager_send(lines);
}

void manager_say_status(struct manager *m, const char *format, ...)
{
	char text[MANAGER_STATUS_BYTES];
	char line[MANAGER_STATUS_BYTES + sizeof "STATUS="];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (strcmp(text, m->status) == 0)
		return;
	strcpy(m->status, text);
	snprintf(line, sizeof line, "STATUS=%s", text);
	manager_send(line);
}
