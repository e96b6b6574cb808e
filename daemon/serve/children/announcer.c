/* SPDX-License-Identifier: Apache-2.0 */
/* Ties to host daemons; see announcer.h. */
#include "daemon/serve/children/announcer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/announcement.h"

/*
 * The first pause and the number of the attempts to connect to a daemon that is being restarted.
 * After these attempts the tie waits until the socket appears again.
 */
#define FIRST_PAUSE_MS 50
#define MAX_TRIES 6
/* A connection that lasted longer than this counts as a success. */
#define STEADY_NS (2 * NS_PER_S)

static void tie_try(struct tie *t);

static void on_again(uv_timer_t *timer)
{
	struct tie *t = timer->data;
	const struct announcer_policy *policy = &t->announcer->policy;

	if (!policy->is_departing(policy->context))
		tie_try(t);
}

static void tie_try_later(struct tie *t)
{
	if (t->n_tries < MAX_TRIES)
		uv_timer_start(&t->again, on_again, FIRST_PAUSE_MS << t->n_tries++, 0);
}

/* --- the connection ------------------------------------------------------------------------ */

static void forget_poll(uv_handle_t *handle)
{
	struct tie *t = handle->data;

	/* Only now may the poll be initialised again. */
	t->is_closing = false;
	if (!t->announcer->is_over)
		tie_try_later(t);
}

static void tie_drop(struct tie *t)
{
	if (t->fd < 0)
		return;
	if (monotonic_ns() - t->since_ns > STEADY_NS)
		t->n_tries = 0;
	uv_poll_stop(&t->poll);
	close(t->fd);
	t->fd = -1;
	t->is_closing = true;
	uv_close((uv_handle_t *)&t->poll, forget_poll);
}

/* Sends the program's state. 0, or a negative errno: the connection cannot be used. */
static int tie_tell(struct tie *t, int fd, int pidfd)
{
	struct announcer *a = t->announcer;
	struct announcement own = {.kind = ANNOUNCEMENT_PROGRAM, .fd = pidfd};

	a->policy.describe(&own.status, a->policy.context);
	return announcement_send(fd, &own);
}

static int tie_tell_memory(struct tie *t)
{
	struct announcer *a = t->announcer;
	struct announcement own = {.kind = ANNOUNCEMENT_PROGRAM, .fd = -1};

	a->policy.describe(&own.status, a->policy.context);
	a->policy.measure(&own.status, a->policy.context);
	return announcement_send(t->fd, &own);
}

static int tie_obey(struct tie *t, const struct announcement *order)
{
	struct announcer *a = t->announcer;

	if (order->kind == ANNOUNCEMENT_CHANNEL && order->fd >= 0) {
		a->policy.serve(order->fd, a->policy.context);
		return 0;
	}
	if (order->fd >= 0)
		close(order->fd);
	if (order->kind == ANNOUNCEMENT_MEMORY)
		return tie_tell_memory(t);
	return order->kind == ANNOUNCEMENT_STATUS ? tie_tell(t, t->fd, -1) : -EPROTO;
}

static void on_order(uv_poll_t *poll, int status, int events)
{
	struct tie *t = poll->data;
	struct announcement order;
	int r = status < 0 ? status : announcement_receive(t->fd, &order);

	(void)events;
	if (r == 1)
		r = tie_obey(t, &order);
	else if (r == 0)
		r = -ECONNRESET;
	if (r && r != -EAGAIN)
		tie_drop(t);
}

/* --- beginning a connection ---------------------------------------------------------------- */

/* The daemon passes channels to this server, so it must belong to root or the program's user. */
static int tie_check_daemon(struct tie *t, int fd)
{
	struct announcer *a = t->announcer;
	pid_t pid;
	uid_t uid = (uid_t)-1;
	int r = unix_peer_identify(fd, &pid, &uid);

	return r || uid == 0 || uid == a->policy.find_uid(a->policy.context) ? r : -EPERM;
}

static int tie_introduce(struct tie *t, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, t->announcer->pid, 0);
	int r = tie_check_daemon(t, fd);

	if (!r)
		r = tie_tell(t, fd, pidfd);
	if (pidfd >= 0)
		close(pidfd);
	return r;
}

static int tie_connect(const struct tie *t)
{
	char address[RUNTIME_DIR_MAX_BYTES + 32];

	snprintf(address, sizeof address, "unix:%s/" RUNTIME_DIR_REGISTRY, t->dir);
	return unix_peer_connect_messages(address);
}

static int tie_begin(struct tie *t)
{
	int fd = tie_connect(t);
	int r = fd < 0 ? fd : tie_introduce(t, fd);

	if (!r)
		r = uv_poll_init(t->announcer->loop, &t->poll, fd);
	if (r) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	t->fd = fd;
	t->since_ns = monotonic_ns();
	t->poll.data = t;
	return uv_poll_start(&t->poll, UV_READABLE, on_order);
}

static void tie_try(struct tie *t)
{
	int r;

	if (t->fd >= 0 || t->is_closing || runtime_dir_check(t->dir, geteuid()))
		return;
	r = tie_begin(t);
	if (r && r != -ENOENT)
		log_debug(LOG_LISTEN, "%s/" RUNTIME_DIR_REGISTRY ": %s", t->dir, errno_words(r));
	if (r == -ECONNREFUSED || r == -EAGAIN)
		tie_try_later(t);
}

/* --- the names ----------------------------------------------------------------------------- */

/* Watches the directory; if it does not exist, its parent. */
static void tie_watch(struct tie *t)
{
	char above[RUNTIME_DIR_MAX_BYTES];
	int fd = t->announcer->names_fd;

	t->watch = inotify_add_watch(
		fd, t->dir, IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR);
	if (t->watch >= 0)
		return;
	snprintf(above, sizeof above, "%s", t->dir);
	*strrchr(above, '/') = '\0';
	/*
	 * Names in /tmp change often; if only /tmp can be used, this server has made the directory
	 * already.
	 */
	if (strcmp(above, "/tmp") != 0)
		t->watch = inotify_add_watch(fd, above, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

/* Returns true if the event's name is that of the tie's directory or of the socket in it. */
static bool tie_is_concerned(const struct tie *t, const struct inotify_event *e)
{
	return e->len && (strcmp(e->name, RUNTIME_DIR_REGISTRY) == 0 ||
				 strcmp(e->name, strrchr(t->dir, '/') + 1) == 0);
}

static void announcer_note_name(struct announcer *a, const struct inotify_event *e)
{
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		struct tie *t = &a->ties[i];

		if (!t->dir[0] || t->watch != e->wd)
			continue;
		if (e->mask & IN_IGNORED || (tie_is_concerned(t, e) && e->mask & IN_ISDIR))
			tie_watch(t);
		if (tie_is_concerned(t, e)) {
			t->n_tries = 0;
			tie_try(t);
		}
	}
}

static void on_names(uv_poll_t *poll, int status, int events)
{
	struct announcer *a = poll->data;
	_Alignas(struct inotify_event) char bytes[4096];
	ssize_t n = status < 0 ? 0 : read(a->names_fd, bytes, sizeof bytes);

	(void)events;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const struct inotify_event *)(bytes + at);

		announcer_note_name(a, e);
		at += (ssize_t)(sizeof *e + e->len);
	}
}

/* Two places may be the same directory, if $XDG_RUNTIME_DIR is /run/user/UID. */
static bool is_new_place(const struct announcer *a, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (strcmp(a->ties[k].dir, a->ties[i].dir) == 0)
			return false;
	return true;
}

static void open_tie(struct announcer *a, unsigned i)
{
	struct tie *t = &a->ties[i];

	t->announcer = a;
	t->fd = t->watch = -1;
	t->again.data = t;
	uv_timer_init(a->loop, &t->again);
	if (runtime_dir_get(i, t->dir) || !is_new_place(a, i)) {
		t->dir[0] = '\0';
		return;
	}
	tie_watch(t);
	tie_try(t);
}

void announcer_open(
	struct announcer *a, uv_loop_t *loop, pid_t pid, const struct announcer_policy *policy)
{
	int r;

	memset(a, 0, sizeof *a);
	a->loop = loop;
	a->policy = *policy;
	a->pid = pid;
	a->names_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (a->names_fd < 0) {
		log_info(LOG_LISTEN, "no host daemon will be found: %s", errno_words(-errno));
		return;
	}
	r = uv_poll_init(loop, &a->names, a->names_fd);
	a->names.data = a;
	if (!r)
		r = uv_poll_start(&a->names, UV_READABLE, on_names);
	if (r)
		log_info(LOG_LISTEN, "no host daemon will be found: %s", uv_strerror(r));
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		open_tie(a, i);
}

void announcer_close(struct announcer *a)
{
	if (!a->loop || a->names_fd < 0 || a->is_over)
		return;
	/*
	 * Does not close |names_fd|: that takes the kernel some 20 ms, for which ptap_server_stop()
	 * would wait. It is closed when the process ends.
	 */
	uv_poll_stop(&a->names);
	a->is_over = true;
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		if (a->ties[i].announcer)
			uv_timer_stop(&a->ties[i].again);
		tie_drop(&a->ties[i]);
	}
}
