/* SPDX-License-Identifier: Apache-2.0 */
/* Notices between servers of parents and children; see notice_relay.h. */
#include "daemon/serve/children/notice_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/door/access.h"
#include "daemon/target/target.h"

/*
 * If the parent is busy, a notice is sent again every PAUSE_MS, up to N_TRIES times. At most
 * MAX_ATTEMPTS notices wait for that.
 */
#define PAUSE_MS 100
#define N_TRIES 100
#define MAX_ATTEMPTS 64

/* A notice that the parent's server has not taken yet. */
struct notice_attempt {
	uv_timer_t timer;
	struct notice_relay *relay;
	struct notice notice;
	int n_left;
};

void notice_relay_init(struct notice_relay *relay, uv_loop_t *loop, struct access *access,
	struct registry *registry)
{
	memset(relay, 0, sizeof *relay);
	relay->loop = loop;
	relay->access = access;
	relay->registry = registry;
	registry_init(registry);
}

/* The process at the other end must belong to the program's user or to root. */
static int check_peer(const struct notice_relay *relay, int fd, pid_t *pid)
{
	uid_t uid = (uid_t)-1;
	int r = unix_peer_identify(fd, pid, &uid);

	return r || uid == 0 || uid == target_find_uid(relay->access->target) ? r : -EPERM;
}

/* --- the parent ---------------------------------------------------------------------------- */

static int send_to_parent(const struct notice_relay *relay, const struct notice *n)
{
	int fd = unix_peer_connect(relay->parent);
	pid_t peer;
	/*
	 * The variable PROFTAP_PARENT is inherited and may be stale, so any process could listen
	 * there.
	 */
	int r = fd < 0 ? fd : check_peer(relay, fd, &peer);

	if (!r)
		r = notice_send(fd, n);
	if (fd >= 0)
		close(fd);
	return r;
}

static void close_pidfd(struct notice *n)
{
	if (n->pidfd >= 0)
		close(n->pidfd);
	n->pidfd = -1;
}

static void finish_notice(const struct notice_relay *relay, struct notice *n, int r)
{
	if (r)
		log_info(LOG_LISTEN, "%s does not know of process %d: %s", relay->parent,
			(int)n->pid, errno_words(r));
	close_pidfd(n);
}

static void free_attempt(uv_handle_t *handle)
{
	struct notice_attempt *a = handle->data;

	a->relay->n_attempts--;
	free(a);
}

static void on_pause(uv_timer_t *timer)
{
	struct notice_attempt *a = timer->data;
	int r = send_to_parent(a->relay, &a->notice);

	if (r == -EAGAIN && --a->n_left)
		return;
	finish_notice(a->relay, &a->notice, r);
	uv_close((uv_handle_t *)timer, free_attempt);
}

static int try_notice_later(struct notice_relay *relay, const struct notice *n)
{
	struct notice_attempt *a = relay->n_attempts < MAX_ATTEMPTS ? calloc(1, sizeof *a) : NULL;

	if (!a)
		return -EAGAIN;
	relay->n_attempts++;
	a->relay = relay;
	a->notice = *n;
	a->n_left = N_TRIES;
	a->timer.data = a;
	uv_timer_init(relay->loop, &a->timer);
	uv_timer_start(&a->timer, on_pause, PAUSE_MS, PAUSE_MS);
	return 0;
}

/* Takes the notice's pidfd. */
static void tell_parent(struct notice_relay *relay, struct notice *n)
{
	int r = send_to_parent(relay, n);

	if (r != -EAGAIN || try_notice_later(relay, n))
		finish_notice(relay, n, r);
}

void notice_relay_announce(
	struct notice_relay *relay, const char *parent, pid_t pid, const char *own)
{
	struct notice n = {.pid = pid};

	/*
	 * After an exec, a program finds its own server in PROFTAP_PARENT; that is no parent.
	 */
	if (!parent[0] || !own[0] || strcmp(parent, own) == 0)
		return;
	snprintf(relay->parent, sizeof relay->parent, "%s", parent);
	snprintf(n.address, sizeof n.address, "%s", own);
	n.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	tell_parent(relay, &n);
}

/* --- children ------------------------------------------------------------------------------ */

/* Takes the notice's pidfd. */
static void pass_notice_on(struct notice_relay *relay, struct notice *n)
{
	n->n_hops++;
	if (relay->parent[0] && n->n_hops < NOTICE_MAX_HOPS)
		tell_parent(relay, n);
	else
		close_pidfd(n);
}

void notice_relay_hear(struct notice_relay *relay, int fd)
{
	struct notice n;
	pid_t peer = 0;
	int copy;
	int r = check_peer(relay, fd, &peer);

	if (!r)
		r = notice_read(fd, &n);
	if (r) {
		log_info(LOG_LISTEN, "a child's notice is invalid: %s", errno_words(r));
		return;
	}
	copy = n.pidfd >= 0 ? fcntl(n.pidfd, F_DUPFD_CLOEXEC, 0) : -1;
	r = registry_add(relay->registry, &n, peer);
	if (r)
		log_info(
			LOG_LISTEN, "process %d is not remembered: %s", (int)n.pid, errno_words(r));
	n.pidfd = copy;
	pass_notice_on(relay, &n);
}
