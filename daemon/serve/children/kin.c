/* SPDX-License-Identifier: Apache-2.0 */
/* Parents and children; see kin.h. */
#include "daemon/serve/children/kin.h"

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

/* A parent that is too busy for now. */
#define PAUSE_MS 100
#define N_TRIES 100
#define MAX_ATTEMPTS 64

/* A notice that was not heard yet. */
struct attempt {
	uv_timer_t timer;
	struct kin *kin;
	struct notice notice;
	int n_left;
};

void kin_init(struct kin *k, uv_loop_t *loop, struct access *access, struct registry *registry)
{
	memset(k, 0, sizeof *k);
	k->loop = loop;
	k->access = access;
	k->registry = registry;
	registry_init(registry);
}

/* Who is at the other end must be of the program's user, or root. */
static int check_peer(const struct kin *k, int fd, pid_t *pid)
{
	uid_t uid;
	int r = unix_peer_identify(fd, pid, &uid);

	return r || uid == 0 || uid == target_find_uid(k->access->target) ? r : -EPERM;
}

/* The parent. */

static int tell(const struct kin *k, const struct notice *n)
{
	int fd = unix_peer_connect(k->parent);
	pid_t peer;
	/* It could be anybody: the variable is inherited, and may be stale. */
	int r = fd < 0 ? fd : check_peer(k, fd, &peer);

	if (!r)
		r = notice_send(fd, n);
	if (fd >= 0)
		close(fd);
	return r;
}

static void forget(struct notice *n)
{
	if (n->pidfd >= 0)
		close(n->pidfd);
	n->pidfd = -1;
}

static void conclude(const struct kin *k, struct notice *n, int r)
{
	if (r)
		log_info(LOG_LISTEN, "%s does not know of process %d: %s", k->parent, (int)n->pid,
			errno_words(r));
	forget(n);
}

static void free_attempt(uv_handle_t *handle)
{
	struct attempt *a = handle->data;

	a->kin->n_attempts--;
	free(a);
}

static void on_pause(uv_timer_t *timer)
{
	struct attempt *a = timer->data;
	int r = tell(a->kin, &a->notice);

	if (r == -EAGAIN && --a->n_left)
		return;
	conclude(a->kin, &a->notice, r);
	uv_close((uv_handle_t *)timer, free_attempt);
}

static int try_later(struct kin *k, const struct notice *n)
{
	struct attempt *a = k->n_attempts < MAX_ATTEMPTS ? calloc(1, sizeof *a) : NULL;

	if (!a)
		return -EAGAIN;
	k->n_attempts++;
	a->kin = k;
	a->notice = *n;
	a->n_left = N_TRIES;
	a->timer.data = a;
	uv_timer_init(k->loop, &a->timer);
	uv_timer_start(&a->timer, on_pause, PAUSE_MS, PAUSE_MS);
	return 0;
}

/* Takes the notice's pidfd. */
static void tell_parent(struct kin *k, struct notice *n)
{
	int r = tell(k, n);

	if (r != -EAGAIN || try_later(k, n))
		conclude(k, n, r);
}

void kin_announce(struct kin *k, const char *parent, pid_t pid, const char *own)
{
	struct notice n = {.pid = pid};

	/* Its own, which a program that execs itself finds in its environment, is none. */
	if (!parent[0] || !own[0] || strcmp(parent, own) == 0)
		return;
	snprintf(k->parent, sizeof k->parent, "%s", parent);
	snprintf(n.address, sizeof n.address, "%s", own);
	n.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	tell_parent(k, &n);
}

/* Children. */

/* Takes the notice's pidfd. */
static void pass_on(struct kin *k, struct notice *n)
{
	n->n_hops++;
	if (k->parent[0] && n->n_hops < NOTICE_MAX_HOPS)
		tell_parent(k, n);
	else
		forget(n);
}

void kin_hear(struct kin *k, int fd)
{
	struct notice n;
	pid_t peer = 0;
	int copy;
	int r = check_peer(k, fd, &peer);

	if (!r)
		r = notice_read(fd, &n);
	if (r) {
		log_info(LOG_LISTEN, "a notice that is none: %s", errno_words(r));
		return;
	}
	copy = n.pidfd >= 0 ? fcntl(n.pidfd, F_DUPFD_CLOEXEC, 0) : -1;
	r = registry_add(k->registry, &n, peer);
	if (r)
		log_info(
			LOG_LISTEN, "process %d is not remembered: %s", (int)n.pid, errno_words(r));
	n.pidfd = copy;
	pass_on(k, &n);
}
