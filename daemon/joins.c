/* SPDX-License-Identifier: Apache-2.0 */
/* Children at the door; see joins.h. */
#include "daemon/joins.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/applicant.h"

#define NUDGE_MS 1

static void on_nudge(uv_timer_t *timer)
{
	struct joins *j = timer->data;

	if (family_kick(j->family))
		uv_timer_stop(timer);
}

void joins_wake_worker(struct joins *j)
{
	if (!family_kick(j->family))
		uv_timer_start(&j->nudge, on_nudge, NUDGE_MS, NUDGE_MS);
}

static void on_visit(uv_poll_t *poll, int status, int events)
{
	struct joins *j = poll->data;
	int fd;

	(void)events;
	if (status < 0)
		return;
	while (j->n_applicants < JOINS_MAX_APPLICANTS &&
		(fd = accept4(j->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		applicant_welcome(j, fd);
	/* Further ones wait outside: all of a program's workers may come at once. */
	if (j->n_applicants == JOINS_MAX_APPLICANTS)
		uv_poll_stop(&j->listener);
}

void joins_note_leave(struct joins *j)
{
	j->n_applicants--;
	if (j->fd >= 0)
		uv_poll_start(&j->listener, UV_READABLE, on_visit);
}

int joins_init(struct joins *j, struct family *f, uv_loop_t *loop)
{
	memset(j, 0, sizeof *j);
	j->family = f;
	j->loop = loop;
	j->fd = -1;
	j->nudge.data = j;
	return uv_timer_init(loop, &j->nudge);
}

/* In the abstract name space: it works in a chroot, for any uid, and leaves nothing behind. */
static int bind_name(int fd, char name[JOIN_NAME_BYTES])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t number[2];
	int n;

	if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
		return -errno;
	n = snprintf(name, JOIN_NAME_BYTES, "proftap%016llx%016llx", (unsigned long long)number[0],
		(unsigned long long)number[1]);
	memcpy(address.sun_path + 1, name, (size_t)n);
	if (bind(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) ||
		listen(fd, JOINS_MAX_CHILDREN))
		return -errno;
	return 0;
}

int joins_listen(struct joins *j)
{
	struct arena *arena = j->family->main->arena;
	char name[JOIN_NAME_BYTES] = "";
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r = fd < 0 ? -errno : 0;

	if (!r && getrandom(j->secret, sizeof j->secret, 0) != (ssize_t)sizeof j->secret)
		r = -errno;
	if (!r)
		r = bind_name(fd, name);
	if (r) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	j->fd = fd;
	memcpy(arena->join_secret, j->secret, sizeof j->secret);
	memcpy(arena->join_name, name, sizeof name);
	return 0;
}

void joins_serve(struct joins *j)
{
	if (j->fd < 0 || uv_poll_init(j->loop, &j->listener, j->fd))
		return;
	j->listener.data = j;
	uv_poll_start(&j->listener, UV_READABLE, on_visit);
}

void joins_close(struct joins *j)
{
	if (j->fd < 0)
		return;
	uv_poll_stop(&j->listener);
	close(j->fd);
	j->fd = -1;
}
