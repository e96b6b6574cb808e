/* SPDX-License-Identifier: Apache-2.0 */
/* Private sockets; see private_sockets.h. */
#include "daemon/serve/door/private_sockets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/runtime_dir.h"
#include "base/status.h"

#define BACKLOG 64

static bool may_enter(int fd, void *context)
{
	struct private_sockets *p = context;

	return p->policy.may_enter(fd, p->policy.context);
}

static void serve_client(int fd, void *context)
{
	struct private_sockets *p = context;

	p->policy.serve(fd, p->policy.context);
}

static void pass_notice(int fd, void *context)
{
	struct private_sockets *p = context;

	p->policy.on_notice(fd, p->policy.context);
}

/* Does not wait, because the text fits into the socket's buffer. */
static void send_status(struct private_sockets *p, int fd)
{
	struct status status;
	char text[STATUS_MAX_BYTES];
	size_t n;

	memset(&status, 0, sizeof status);
	p->policy.describe(&status, p->policy.context);
	n = status_format(&status, text);
	if (send(fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n)
		log_debug(LOG_LISTEN, "a status could not be sent to its client");
}

static void on_status(uv_poll_t *poll, int error, int events)
{
	struct private_sockets *p = poll->data;
	int fd;

	(void)events;
	if (error < 0)
		return;
	while ((fd = accept4(p->status_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (may_enter(fd, p))
			send_status(p, fd);
		close(fd);
	}
	accept_pause_start(&p->pause, errno);
}

/* Returns a listening socket at |path|, or a negative errno. */
static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int r;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	unlink(path);
	/*
	 * A program that root started may change its user later, and must still be able to connect
	 * to its server. So all users can connect, and each client is checked.
	 */
	mask = umask(geteuid() == 0 ? 0111 : 0177);
	r = bind(fd, (struct sockaddr *)&address, sizeof address);
	umask(mask);
	if (r == 0)
		r = listen(fd, BACKLOG);
	if (r == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

static int open_status(struct private_sockets *p, uv_loop_t *loop)
{
	int r = listen_at(p->status_file.path);

	if (r < 0)
		return r;
	p->status_fd = r;
	socket_file_note(&p->status_file);
	p->status.data = p;
	accept_pause_init(&p->pause, loop, &p->status, on_status);
	r = uv_poll_init(loop, &p->status, p->status_fd);
	return r ? r : uv_poll_start(&p->status, UV_READABLE, on_status);
}

static int open_door(struct private_sockets *p, uv_loop_t *loop)
{
	const struct door_policy policy = {.may_enter = may_enter,
		.serve = serve_client,
		.on_notice = pass_notice,
		.context = p};
	int fd = listen_at(p->door_file.path);

	if (fd < 0)
		return fd;
	socket_file_note(&p->door_file);
	return door_open(&p->door, loop, fd, &policy);
}

static int open_in(struct private_sockets *p, uv_loop_t *loop, const char *dir, pid_t pid)
{
	int r;

	snprintf(p->door_file.path, sizeof p->door_file.path, "%s/%d.sock", dir, (int)pid);
	snprintf(p->status_file.path, sizeof p->status_file.path, "%s/%d.status", dir, (int)pid);
	r = open_door(p, loop);
	if (r == 0)
		r = open_status(p, loop);
	if (r)
		private_sockets_close(p);
	return r;
}

int private_sockets_open(
	struct private_sockets *p, uv_loop_t *loop, pid_t pid, const struct private_policy *policy)
{
	char dir[RUNTIME_DIR_MAX_BYTES];
	int error = -ENOENT;

	memset(p, 0, sizeof *p);
	p->policy = *policy;
	p->door.listener = p->status_fd = -1;
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		int r = runtime_dir_get(i, dir);

		if (r == 0)
			r = runtime_dir_make(dir);
		if (r == 0)
			r = open_in(p, loop, dir, pid);
		if (r == 0)
			return 0;
		log_debug(LOG_LISTEN, "private socket: place %u: %s", i, errno_words(r));
		if (r != -ENOENT)
			error = r;
	}
	return error;
}

void private_sockets_close(struct private_sockets *p)
{
	door_close(&p->door);
	if (p->status_fd >= 0) {
		accept_pause_end(&p->pause);
		close(p->status_fd);
		p->status_fd = -1;
	}
	socket_file_remove(&p->door_file);
	socket_file_remove(&p->status_file);
}
