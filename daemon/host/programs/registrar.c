/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of programs; see registrar.h. */
#include "daemon/host/programs/registrar.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/host/programs/programs.h"
#include "daemon/kernel/container.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/announcement.h"
#include "daemon/serve/children/starter.h"

#define PATIENCE_MS 2000
/*
 * The log mentions a program only after this time, because wrappers (env, shells) execute another
 * program at once.
 */
#define SETTLE_MS 1000
/* Connections in fast succession must not keep the loop from its other work. */
#define MAX_AT_ONCE 16
/* The limit of each user but root, so that one user cannot keep all others out. */
#define MAX_OF_USER 1024

/* A server's connection. */
struct announced {
	uv_poll_t poll;
	struct registrar *registrar;
	struct announced *previous;
	struct announced *next;
	int fd;
	pid_t peer_pid;
	uid_t peer_uid;
	pid_t pid; /* of its program */
	uint64_t id; /* of its program; 0: not announced yet */
	/*
	 * On the loop's clock: end of the wait for the announcement; after the announcement, the
	 * time to write the log's line.
	 */
	uint64_t deadline_ms;
	uid_t uid; /* of the program, like the two below */
	char name[64];
	bool is_told; /* the log has mentioned it */
};

static void free_announced(uv_handle_t *handle)
{
	free(handle->data);
}

static void log_arrival(struct announced *a)
{
	a->is_told = true;
	log_info(LOG_TARGET, "process %d (%s) of uid %u is here", (int)a->pid, a->name,
		(unsigned)a->uid);
}

/*
 * Writes no line if the process executed another program before the log mentioned it: the new
 * program announces itself.
 */
static void log_departure(struct announced *a)
{
	if (!a->is_told && (kill(a->pid, 0) == 0 || errno == EPERM))
		return;
	if (!a->is_told)
		log_arrival(a);
	log_info(LOG_TARGET, "process %d is gone", (int)a->pid);
}

static void announced_close(struct announced *a)
{
	struct registrar *r = a->registrar;

	if (a->id) {
		programs_remove(r->programs, a->id);
		log_departure(a);
	}
	if (a->previous)
		a->previous->next = a->next;
	else
		r->first = a->next;
	if (a->next)
		a->next->previous = a->previous;
	r->n--;
	uv_poll_stop(&a->poll);
	close(a->fd);
	uv_close((uv_handle_t *)&a->poll, free_announced);
}

static void set_patience(struct registrar *r);

/* --- announcements ---------------------------------------------------------------------------- */

/* Identifies a living program by its descriptor. */
static int identify_living(const struct announced *a, int pidfd, struct program *p)
{
	p->pid = pidfd_find_pid(pidfd);
	if (p->pid <= 0)
		return p->pid ? (int)p->pid : -ESRCH;
	p->uid = a->peer_uid;
	owner_find_uid("", p->pid, &p->uid);
	container_find("", p->pid, &p->container);
	/* A process that is alive now had this pid, user and container all the time. */
	if (pidfd_has_ended(pidfd))
		return -ESRCH;
	return a->peer_uid == 0 || a->peer_uid == p->uid ? 0 : -EPERM;
}

static int identify_program(
	const struct announced *a, const struct announcement *said, struct program *p)
{
	if (said->fd >= 0)
		return identify_living(a, said->fd, p);
	/*
	 * An ended program has no pidfd. Its server keeps the data for one user: the server's own
	 * user, or the one that a server of root reports.
	 */
	if (!said->status.has_ended)
		return -EPROTO;
	p->pid = said->status.pid;
	p->uid = a->peer_uid ? a->peer_uid : said->status.uid;
	p->container.pid_inside = p->pid;
	return 0;
}

static int announced_add_program(struct announced *a, const struct announcement *said)
{
	struct program p = {.connection = a->fd, .status = said->status};
	int r = identify_program(a, said, &p);

	if (r)
		return r;
	a->pid = p.pid;
	a->id = programs_add(a->registrar->programs, &p);
	if (!a->id)
		return -ENOMEM;
	a->uid = p.uid;
	snprintf(a->name, sizeof a->name, "%s", p.status.name);
	a->deadline_ms = uv_now(a->registrar->loop) + SETTLE_MS;
	set_patience(a->registrar);
	return 0;
}

/* Returns 0, or a negative errno: the caller must close the connection. */
static int announced_take_message(struct announced *a, const struct announcement *said)
{
	int r = -EPROTO;

	if (said->kind == ANNOUNCEMENT_PROGRAM && !a->id) {
		r = announced_add_program(a, said);
	} else if (said->kind == ANNOUNCEMENT_PROGRAM) {
		programs_update(a->registrar->programs, a->id, &said->status);
		r = 0;
	}
	if (said->fd >= 0)
		close(said->fd);
	return r;
}

static void on_word(uv_poll_t *poll, int status, int events)
{
	struct announced *a = poll->data;
	struct announcement said;
	int r;

	(void)events;
	/* A program without a server wants one. The starter receives its message, not this loop. */
	if (status >= 0 && !a->id && serve_request_is_next(a->fd)) {
		starter_hand_over(a->registrar->starter, a->fd);
		announced_close(a);
		return;
	}
	r = status < 0 ? status : announcement_receive(a->fd, &said);
	if (r == -EAGAIN)
		return;
	if (r == 1) {
		r = announced_take_message(a, &said);
		if (!r)
			return;
		log_info(LOG_LISTEN, "refused what process %d of uid %u announced: %s",
			(int)a->peer_pid, (unsigned)a->peer_uid, errno_words(r));
	}
	announced_close(a);
}

/* --- connections ------------------------------------------------------------------------------ */

static void on_patience(uv_timer_t *timer);

/*
 * Examines all connections: the list begins with the youngest, and those after an announced one may
 * still be silent.
 */
static void set_patience(struct registrar *r)
{
	uint64_t now = uv_now(r->loop);
	uint64_t first = UINT64_MAX;

	for (const struct announced *a = r->first; a; a = a->next)
		if (!a->is_told && a->deadline_ms < first)
			first = a->deadline_ms;
	if (first == UINT64_MAX)
		uv_timer_stop(&r->patience);
	else
		uv_timer_start(&r->patience, on_patience, first > now ? first - now : 0, 0);
}

static void on_patience(uv_timer_t *timer)
{
	struct registrar *r = timer->data;
	struct announced *next;

	for (struct announced *a = r->first; a; a = next) {
		next = a->next;
		if (a->is_told || a->deadline_ms > uv_now(r->loop))
			continue;
		if (a->id)
			log_arrival(a);
		else
			announced_close(a);
	}
	set_patience(r);
}

static size_t count_of(const struct registrar *r, uid_t uid)
{
	size_t n = 0;

	for (const struct announced *a = r->first; a; a = a->next)
		n += a->peer_uid == uid;
	return n;
}

static struct announced *new_announced(struct registrar *r, int fd)
{
	struct announced *a = calloc(1, sizeof *a);

	if (!a || unix_peer_identify(fd, &a->peer_pid, &a->peer_uid) ||
		(a->peer_uid && count_of(r, a->peer_uid) >= MAX_OF_USER) ||
		uv_poll_init(r->loop, &a->poll, fd)) {
		free(a);
		return NULL;
	}
	a->registrar = r;
	a->fd = fd;
	a->poll.data = a;
	a->deadline_ms = uv_now(r->loop) + PATIENCE_MS;
	return a;
}

static void registrar_admit(struct registrar *r, int fd)
{
	struct announced *a = r->n < REGISTRAR_MAX_CONNECTIONS ? new_announced(r, fd) : NULL;

	if (!a) {
		close(fd);
		return;
	}
	a->next = r->first;
	if (r->first)
		r->first->previous = a;
	r->first = a;
	r->n++;
	uv_poll_start(&a->poll, UV_READABLE, on_word);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct registrar *r = poll->data;

	(void)events;
	if (status < 0)
		return;
	for (int i = 0; i < MAX_AT_ONCE; i++) {
		int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			accept_pause_start(&r->rest, errno);
			break;
		}
		fd = descriptors_keep(fd, DESCRIPTORS_OF_CHILDREN);
		if (fd >= 0)
			registrar_admit(r, fd);
	}
	if (!uv_is_active((uv_handle_t *)&r->patience))
		set_patience(r);
}

int registrar_open(struct registrar *r, uv_loop_t *loop, int listener, struct programs *programs,
	struct starter *starter)
{
	int error;

	memset(r, 0, sizeof *r);
	r->programs = programs;
	r->starter = starter;
	r->loop = loop;
	r->listener = listener;
	uv_timer_init(loop, &r->patience);
	accept_pause_init(&r->rest, loop, &r->poll, on_connection);
	error = uv_poll_init(loop, &r->poll, listener);
	r->poll.data = r->patience.data = r;
	return error ? error : uv_poll_start(&r->poll, UV_READABLE, on_connection);
}

void registrar_refuse(struct registrar *r)
{
	if (!r->loop || r->listener < 0)
		return;
	accept_pause_end(&r->rest);
	close(r->listener);
	r->listener = -1;
}

void registrar_close(struct registrar *r)
{
	if (!r->loop)
		return;
	registrar_refuse(r);
	uv_timer_stop(&r->patience);
	while (r->first)
		announced_close(r->first);
}
