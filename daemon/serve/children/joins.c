/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forked children that join the program; see joins.h. A child must descend from the program, know
 * the secret, and send a sealed arena whose layout is valid. The process that connects is a clone
 * of the child (lib/spawn/join.c): its parent is the child, and remains so while the clone waits
 * for our answer.
 */
#include "daemon/serve/children/joins.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
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
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/passed_fd.h"
#include "daemon/target/exit_note.h"

#define NUDGE_MS 1
/* Limits the connections of one turn, because the loop has other work, too. */
#define MAX_AT_ONCE 16
/*
 * The time limit of a request. It is shorter than the time that a child waits, so that children
 * behind a silent one are answered in time.
 */
#define REQUEST_MS 2000

static void joins_resume(struct joins *j);

static void on_nudge(uv_timer_t *timer)
{
	struct joins *j = timer->data;

	if (family_kick(j->family))
		uv_timer_stop(timer);
}

/*
 * Tells the worker about news of the family. If the worker is busy or about to sleep, tries again.
 */
static void joins_wake_worker(struct joins *j)
{
	if (!family_kick(j->family))
		uv_timer_start(&j->nudge, on_nudge, NUDGE_MS, NUDGE_MS);
}

/* --- requests -------------------------------------------------------------------------------- */

/* Every byte and descriptor of a request may be hostile. */

/*
 * The comparison takes the same time for every wrong secret, so that a child cannot guess it byte
 * by byte.
 */
static bool join_is_secret(const uint8_t *a, const uint8_t *b)
{
	unsigned differ = 0;

	for (int i = 0; i < JOIN_SECRET_BYTES; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return differ == 0;
}

static int join_request_check(const struct join_request *request, size_t n, const uint8_t *secret)
{
	if (n != sizeof *request || request->magic != JOIN_MAGIC ||
		request->version != JOIN_VERSION)
		return -EPROTO;
	return join_is_secret(request->secret, secret) ? 0 : -EACCES;
}

int join_request_read(int fd, const uint8_t secret[JOIN_SECRET_BYTES], struct join_request *request,
	int *memfd_out)
{
	ssize_t n = passed_fd_receive(fd, request, sizeof *request, memfd_out);
	int r;

	if (n < 0)
		return (int)n;
	r = *memfd_out < 0 ? -EBADMSG : join_request_check(request, (size_t)n, secret);
	if (r && *memfd_out >= 0)
		close(*memfd_out);
	return r;
}

/* --- children --------------------------------------------------------------------------------- */

/* Watches a child's pidfd for its exit. */
struct child_watch {
	struct joins *joins;
	struct child *child;
	uv_poll_t poll;
	int pidfd;
};

static void child_watch_free(uv_handle_t *handle)
{
	struct child_watch *w = handle->data;

	close(w->pidfd);
	child_release(w->child);
	free(w);
}

static void on_child_exit(uv_poll_t *poll, int status, int events)
{
	struct child_watch *w = poll->data;

	(void)status;
	(void)events;
	exit_note_take(&w->child->target, w->joins->family->main, w->pidfd);
	atomic_store(&w->child->target.has_exited, 1);
	atomic_fetch_add(&w->joins->family->n_exits, 1);
	atomic_store(&w->joins->family->has_news, 1);
	joins_wake_worker(w->joins);
	w->joins->n_children--;
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, child_watch_free);
}

/* On success takes |pidfd|, and holds |child|. */
static int child_watch_start(struct joins *j, struct child *child, int pidfd)
{
	struct child_watch *w = calloc(1, sizeof *w);

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

/*
 * All processes of a recording share one clock; the processor's counter is the same in all time
 * namespaces.
 */
static int check_clock(struct target *t, const struct target *main)
{
	target_compare_clock(t);
	return t->clock_ahead_ns == main->clock_ahead_ns ||
			       atomic_load(&main->arena->clock) == ARENA_CLOCK_TICKS
		       ? 0
		       : -EXDEV;
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
	/*
	 * A child's library uses the parent's sizes; larger ones come from an attacker, and could
	 * exhaust our memory.
	 */
	if (t->ring_bytes != main->ring_bytes || t->n_rings > main->n_rings)
		return -EPROTO;
	t->has_own_tids = main->has_own_tids || request->pid != t->pid;
	atomic_store(&t->arena->clock, atomic_load(&main->arena->clock));
	return check_clock(t, main);
}

/*
 * Takes the child |pid| into the family. Its clone |clone| has brought |request| and the arena
 * |memfd| (taken, also on failure). 0 or a negative errno.
 */
static int adopt_child(
	struct joins *j, pid_t pid, pid_t clone, const struct join_request *request, int memfd)
{
	int pidfd = descriptors_keep((int)syscall(SYS_pidfd_open, pid, 0), DESCRIPTORS_OF_CHILDREN);
	struct child *child = NULL;
	struct diag d = DIAG_INIT;
	int r;

	/* While the clone lives, no other process can have its parent's pid. */
	if (pidfd < 0)
		r = -errno;
	else if (lineage_get_parent("", clone) != pid)
		r = -ESRCH;
	else
		r = j->n_children < JOINS_MAX_CHILDREN ? 0 : -EUSERS;
	if (r)
		close(memfd);
	else
		r = child_new(memfd, pid, &child, &d);
	if (!r)
		r = check_child(j, child, request);
	if (!r)
		r = child_watch_start(j, child, pidfd);
	if (r && pidfd >= 0)
		close(pidfd);
	if (!r)
		family_offer(j->family, child);
	child_release(child);
	return r;
}

/* --- applicants ------------------------------------------------------------------------------- */

/* A connection whose request has not come yet. */
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

static void applicant_unlink(struct applicant *v)
{
	struct applicant **at = &v->joins->applicants;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
}

static void applicant_free(uv_handle_t *handle)
{
	struct applicant *v = handle->data;
	struct joins *j = v->joins;

	if (--v->n_open_handles)
		return;
	close(v->fd);
	applicant_unlink(v);
	free(v);
	j->n_applicants--;
	joins_resume(j);
}

static void applicant_dismiss(struct applicant *v)
{
	uv_close((uv_handle_t *)&v->poll, applicant_free);
	uv_close((uv_handle_t *)&v->patience, applicant_free);
}

static void answer_child(struct joins *j, int fd, int result)
{
	struct join_answer a = {
		.result = result,
		/* Read after family_offer(): see close_to_newcomers() in recording.c. */
		.is_recording = (uint32_t)atomic_load(&j->family->is_recording),
	};

	/*
	 * Counted before the answer, so that children further back in the queue see that the server
	 * makes progress.
	 */
	atomic_fetch_add(&j->family->main->arena->n_joins_heard, 1);
	send(fd, &a, sizeof a, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Reads the request and answers it. Returns false if it has not come yet. */
static bool applicant_hear(struct applicant *v)
{
	struct joins *j = v->joins;
	struct join_request request;
	int memfd = -1;
	int r = join_request_read(v->fd, j->secret, &request, &memfd);

	if (r == -EAGAIN)
		return false;
	if (!r)
		r = adopt_child(j, v->child, v->peer, &request, memfd);
	if (r)
		log_warn(LOG_TARGET, "child %d: cannot join: %s", (int)v->child, errno_words(r));
	answer_child(j, v->fd, r);
	if (!r)
		joins_wake_worker(j);
	return true;
}

static void on_request(uv_poll_t *poll, int status, int events)
{
	struct applicant *v = poll->data;

	(void)events;
	if (applicant_hear(v) || status < 0)
		applicant_dismiss(v);
}

/*
 * libuv runs timers before it polls. If this process got no processor time for a while, the request
 * may have arrived without being read, so read it now.
 */
static void on_request_timeout(uv_timer_t *timer)
{
	applicant_hear(timer->data);
	applicant_dismiss(timer->data);
}

/*
 * Returns the child whose clone is the connected process: the parent of that process. 0: the clone
 * does not descend from the program.
 */
static pid_t find_child(struct joins *j, int fd, pid_t *peer)
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

static int applicant_new(struct joins *j, int fd, pid_t peer, pid_t child)
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
	uv_timer_start(&v->patience, on_request_timeout, REQUEST_MS, 0);
	uv_poll_start(&v->poll, UV_READABLE, on_request);
	return 0;
}

/*
 * Returns true if |child| has an applicant already. A child has one clone at a time; one that
 * connects twice must not take the others' room.
 */
static bool has_applicant(const struct joins *j, pid_t child)
{
	for (const struct applicant *v = j->applicants; v; v = v->next)
		if (v->child == child)
			return true;
	return false;
}

/* Takes the new connection |fd|, waits 2 s at most for its request, answers, and closes it. */
static void applicant_welcome(struct joins *j, int fd)
{
	pid_t peer = 0;
	pid_t child = find_child(j, fd, &peer);
	int r;

	if (!child)
		r = -ESRCH;
	else if (child == j->family->main->pid)
		r = -EACCES;
	else if (has_applicant(j, child))
		r = -EBUSY;
	else
		r = applicant_new(j, fd, peer, child);
	if (!r)
		return;
	answer_child(j, fd, r);
	close(fd);
}

/* --- the listener ----------------------------------------------------------------------------- */

/*
 * Binds in the abstract name space, which works in a chroot and for any uid, and leaves no file
 * behind.
 */
static int listener_bind(int fd, char name[JOIN_NAME_BYTES], int backlog)
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
		listen(fd, backlog))
		return -errno;
	return 0;
}

/*
 * Opens a listening socket with an unguessable name, for |backlog| connections at a time. Returns
 * the socket, or a negative errno.
 */
static int listener_open(char name[JOIN_NAME_BYTES], int backlog)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = listener_bind(fd, name, backlog);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

/*
 * Returns true if one more applicant can be accepted. An applicant uses a descriptor, and a child
 * that joins uses two; when descriptors are short, only one applicant is accepted at a time.
 */
static bool can_hear_one_more(const struct joins *j)
{
	if (j->n_applicants == 0)
		return true;
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

/* Called when an applicant has left, because others may wait in the kernel's queue. */
static void joins_resume(struct joins *j)
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
	fd = listener_open(name, JOINS_MAX_CHILDREN);
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
