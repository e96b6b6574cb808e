/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks to join; see applicant.h. An applicant must descend from the program, know the secret, and bring a
 * sealed arena with a layout that makes sense. What connects is a clone of the child (lib/spawn/join.c): the
 * child is its parent, and stays so while the clone waits for our answer.
 */
#include "daemon/serve/children/applicant.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/lineage.h"
#include "daemon/serve/children/adoption.h"
#include "daemon/serve/children/join_request.h"
#include "daemon/serve/children/joins.h"

/* Shorter than a child's own patience: those behind silent ones must still be in time. */
#define HEARING_MS 2000

/* A connection that has not said who it is. */
struct applicant {
	struct joins *joins;
	struct applicant *next;
	uv_poll_t poll;
	uv_timer_t patience;
	int fd;
	int n_open_handles;
	pid_t peer; /* the clone */
	pid_t child; /* its parent */
};

static void leave_list(struct applicant *v)
{
	struct applicant **at = &v->joins->applicants;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
}

static void forget_applicant(uv_handle_t *handle)
{
	struct applicant *v = handle->data;
	struct joins *j = v->joins;

	if (--v->n_open_handles)
		return;
	close(v->fd);
	leave_list(v);
	free(v);
	j->n_applicants--;
	joins_resume(j);
}

static void dismiss_applicant(struct applicant *v)
{
	uv_close((uv_handle_t *)&v->poll, forget_applicant);
	uv_close((uv_handle_t *)&v->patience, forget_applicant);
}

static void answer(struct joins *j, int fd, int result)
{
	struct join_answer a = {
		.result = result,
		/* Read after the offer: see recording_end(). */
		.is_recording = (uint32_t)atomic_load(&j->family->is_recording),
	};

	/* Before the answer: those who wait behind it see that this server gets on. */
	atomic_fetch_add(&j->family->main->arena->n_joins_heard, 1);
	send(fd, &a, sizeof a, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* 0: it has not said who it is yet. */
static int hear_applicant(struct applicant *v)
{
	struct joins *j = v->joins;
	struct join_request request;
	int memfd = -1;
	int r = join_request_read(v->fd, j->secret, &request, &memfd);

	if (r == -EAGAIN)
		return 0;
	if (!r)
		r = adoption_make(j, v->child, v->peer, &request, memfd);
	if (r)
		log_warn(LOG_TARGET, "child %d: cannot join: %s", (int)v->child, errno_words(r));
	answer(j, v->fd, r);
	if (!r)
		joins_wake_worker(j);
	return 1;
}

static void on_request(uv_poll_t *poll, int status, int events)
{
	struct applicant *v = poll->data;

	(void)events;
	if (hear_applicant(v) || status < 0)
		dismiss_applicant(v);
}

/* The loop looks at timers first: after a time without a processor the request may be here and not have been read. */
static void on_impatience(uv_timer_t *timer)
{
	hear_applicant(timer->data);
	dismiss_applicant(timer->data);
}

/* Who connects, and the process it is a clone of: 0 when that is no descendant of the program. */
static pid_t identify(struct joins *j, int fd, pid_t *peer)
{
	pid_t program = j->family->main->pid;
	struct ucred who;
	socklen_t n = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) ||
		!lineage_descends("", who.pid, program))
		return 0;
	*peer = who.pid;
	return lineage_get_parent("", who.pid);
}

static int receive(struct joins *j, int fd, pid_t peer, pid_t child)
{
	struct applicant *v = calloc(1, sizeof *v);

	if (!v || uv_poll_init(j->loop, &v->poll, fd)) {
		free(v);
		return -ENOMEM;
	}
	v->joins = j;
	v->fd = fd;
	v->peer = peer;
	v->child = child;
	v->n_open_handles = 2;
	v->next = j->applicants;
	j->applicants = v;
	j->n_applicants++;
	uv_timer_init(j->loop, &v->patience);
	v->poll.data = v->patience.data = v;
	uv_timer_start(&v->patience, on_impatience, HEARING_MS, 0);
	uv_poll_start(&v->poll, UV_READABLE, on_request);
	return 0;
}

/* A child has one clone at a time: whoever has several keeps the others out. */
static int is_at_the_door(const struct joins *j, pid_t child)
{
	for (const struct applicant *v = j->applicants; v; v = v->next)
		if (v->child == child)
			return 1;
	return 0;
}

void applicant_welcome(struct joins *j, int fd)
{
	pid_t peer = 0;
	pid_t child = identify(j, fd, &peer);
	int r;

	if (!child)
		r = -ESRCH;
	else if (child == j->family->main->pid)
		r = -EACCES;
	else if (is_at_the_door(j, child))
		r = -EBUSY;
	else
		r = receive(j, fd, peer, child);
	if (!r)
		return;
	answer(j, fd, r);
	close(fd);
}
