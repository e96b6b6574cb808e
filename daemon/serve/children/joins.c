/* SPDX-License-Identifier: Apache-2.0 */
/* Children at the door; see joins.h. */
#include "daemon/serve/children/joins.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/kernel/descriptors.h"
#include "daemon/serve/children/applicant.h"
#include "daemon/serve/children/join_listener.h"

#define NUDGE_MS 1
/* Whoever connects faster than we refuse must not keep the loop from its other work. */
#define MAX_AT_ONCE 16

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

/* While descriptors are short one after the other is heard: each is closed again, or becomes two of a child's. */
static int can_hear_one_more(const struct joins *j)
{
	if (j->n_applicants == 0)
		return 1;
	return j->n_applicants < JOINS_MAX_APPLICANTS &&
	       descriptors_are_left(3 + 2 * j->n_applicants, DESCRIPTORS_OF_CHILDREN);
}

static void on_visit(uv_poll_t *poll, int status, int events)
{
	struct joins *j = poll->data;
	int fd;

	(void)events;
	if (status < 0)
		return;
	for (int i = 0; can_hear_one_more(j); i++) {
		if (i == MAX_AT_ONCE)
			return;
		fd = accept4(j->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			accept_pause_start(&j->rest, errno);
			return;
		}
		applicant_welcome(j, fd);
	}
	uv_poll_stop(&j->listener);
}

void joins_resume(struct joins *j)
{
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
	accept_pause_init(&j->rest, loop, &j->listener, on_visit);
	return uv_timer_init(loop, &j->nudge);
}

int joins_listen(struct joins *j)
{
	struct arena *arena = j->family->main->arena;
	char name[JOIN_NAME_BYTES] = "";
	int fd;

	if (getrandom(j->secret, sizeof j->secret, 0) != (ssize_t)sizeof j->secret)
		return -errno;
	fd = join_listener_open(name, JOINS_MAX_CHILDREN);
	if (fd < 0)
		return fd;
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
	accept_pause_end(&j->rest);
	close(j->fd);
	j->fd = -1;
}
