/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children at the door; see joins.h. An applicant must descend from the program, know the secret, and bring a
 * sealed arena with a layout that makes sense. What connects is a clone of the child (lib/spawn/join.c): the
 * child is its parent, and stays so while the clone waits for our answer.
 */
#include "daemon/joins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/join_request.h"
#include "daemon/lineage.h"

#define NUDGE_MS 1

/* A connection that has not said who it is. */
struct applicant {
	struct joins *joins;
	uv_poll_t poll;
	uv_timer_t patience;
	int fd;
	int n_open_handles;
	pid_t peer; /* the clone */
	pid_t child; /* its parent */
};

/* The pidfd of a child. */
struct watch {
	struct joins *joins;
	struct child *child;
	uv_poll_t poll;
	int pidfd;
};

static void on_nudge(uv_timer_t *timer)
{
	struct joins *j = timer->data;

	if (family_kick(j->family))
		uv_timer_stop(timer);
}

/* The worker may be busy, or just about to sleep: then it is tried again. */
static void wake_worker(struct joins *j)
{
	if (!family_kick(j->family))
		uv_timer_start(&j->nudge, on_nudge, NUDGE_MS, NUDGE_MS);
}

/* --- joined children ----------------------------------------------------------------------- */

static void free_watch(uv_handle_t *handle)
{
	struct watch *w = handle->data;

	close(w->pidfd);
	child_release(w->child);
	free(w);
}

static void on_child_exit(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;

	(void)status;
	(void)events;
	atomic_store(&w->child->target.has_exited, 1);
	atomic_store(&w->joins->family->has_news, 1);
	wake_worker(w->joins);
	w->joins->n_children--;
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, free_watch);
}

/* Takes |pidfd| on success; then |child| has a further holder. */
static int watch_child(struct joins *j, struct child *child, int pidfd)
{
	struct watch *w = calloc(1, sizeof *w);

	if (!w || uv_poll_init(j->loop, &w->poll, pidfd)) {
		free(w);
		return -ENOMEM;
	}
	w->joins = j;
	w->child = child;
	w->pidfd = pidfd;
	w->poll.data = w;
	atomic_fetch_add(&child->n_holders, 1);
	j->n_children++;
	uv_poll_start(&w->poll, UV_READABLE, on_child_exit);
	return 0;
}

static int check_child(struct joins *j, struct child *child, const struct join_request *request)
{
	const struct target *main = j->family->main;
	struct target *t = &child->target;
	struct diag d = DIAG_INIT;

	if (target_read_head(t, &d)) {
		log_warn(LOG_TARGET, "child %d: %s", (int)t->pid, d.text);
		return -EPROTO;
	}
	t->has_own_tids = main->has_own_tids || request->pid != t->pid;
	atomic_store(&t->arena->clock, atomic_load(&main->arena->clock));
	return 0;
}

/* Takes |memfd|. 0 or a negative errno. */
static int adopt(
	struct joins *j, const struct applicant *v, const struct join_request *request, int memfd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, v->child, 0);
	struct child *child = NULL;
	struct diag d = DIAG_INIT;
	int r;

	/* While the clone lives its parent's pid is nobody else's. */
	if (pidfd < 0)
		r = -errno;
	else if (lineage_get_parent("", v->peer) != v->child)
		r = -ESRCH;
	else
		r = j->n_children < JOINS_MAX_CHILDREN ? 0 : -EUSERS;
	if (r)
		close(memfd);
	else
		r = child_new(memfd, v->child, &child, &d);
	if (!r)
		r = check_child(j, child, request);
	if (!r)
		r = watch_child(j, child, pidfd);
	if (r && pidfd >= 0)
		close(pidfd);
	if (!r)
		family_offer(j->family, child);
	child_release(child);
	return r;
}

/* --- applicants ----------------------------------------------------------------------------- */

static void forget_applicant(uv_handle_t *handle)
{
	struct applicant *v = handle->data;

	if (--v->n_open_handles)
		return;
	close(v->fd);
	v->joins->n_applicants--;
	free(v);
}

static void dismiss_applicant(struct applicant *v)
{
	uv_close((uv_handle_t *)&v->poll, forget_applicant);
	uv_close((uv_handle_t *)&v->patience, forget_applicant);
}

static void on_impatience(uv_timer_t *timer)
{
	dismiss_applicant(timer->data);
}

static void answer(struct joins *j, int fd, int result)
{
	struct join_answer a = {
		.result = result,
		/* Read after the offer: see recording_end(). */
		.is_recording = (uint32_t)atomic_load(&j->family->is_recording),
	};

	send(fd, &a, sizeof a, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_request(uv_poll_t *poll, int status, int events)
{
	struct applicant *v = poll->data;
	struct joins *j = v->joins;
	struct join_request request;
	int memfd = -1;
	int r = join_request_read(v->fd, j->secret, &request, &memfd);

	(void)events;
	if (r == -EAGAIN && status >= 0)
		return;
	if (!r)
		r = adopt(j, v, &request, memfd);
	if (r)
		log_warn(LOG_TARGET, "child %d: cannot join: %s", (int)v->child, errno_words(r));
	answer(j, v->fd, r);
	dismiss_applicant(v);
	if (!r)
		wake_worker(j);
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
	j->n_applicants++;
	uv_timer_init(j->loop, &v->patience);
	v->poll.data = v->patience.data = v;
	uv_timer_start(&v->patience, on_impatience, JOIN_TIMEOUT_MS, 0);
	uv_poll_start(&v->poll, UV_READABLE, on_request);
	return 0;
}

static void welcome(struct joins *j, int fd)
{
	pid_t peer = 0;
	pid_t child = identify(j, fd, &peer);
	int r = child && child != j->family->main->pid ? 0 : -EACCES;

	if (!r && j->n_applicants < JOINS_MAX_APPLICANTS)
		r = receive(j, fd, peer, child);
	else if (!r)
		r = -EAGAIN;
	if (!r)
		return;
	answer(j, fd, r);
	close(fd);
}

static void on_visit(uv_poll_t *poll, int status, int events)
{
	struct joins *j = poll->data;
	int fd;

	(void)events;
	if (status < 0)
		return;
	while ((fd = accept4(j->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		welcome(j, fd);
}

/* --- the door ------------------------------------------------------------------------------ */

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
