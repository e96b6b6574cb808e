/* SPDX-License-Identifier: Apache-2.0 */
/* Children that told of themselves; see registry.h. */
#include "daemon/serve/children/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/pidfd.h"
#include "daemon/kernel/unix_peer.h"

void registry_init(struct registry *r)
{
	r->n = 0;
	pthread_mutex_init(&r->mutex, NULL);
}

/* Who is there. */

static void forget(struct registered *e)
{
	if (e->pidfd >= 0)
		close(e->pidfd);
	e->pidfd = -1;
}

static int answers(const struct registered *e)
{
	int fd = unix_peer_connect(e->address);

	if (fd >= 0)
		close(fd);
	/* One that has no time for us lives. */
	return fd >= 0 || fd == -EAGAIN;
}

static void prune(struct registry *r, int (*is_kept)(const struct registered *))
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (is_kept(&r->v[i]))
			r->v[n++] = r->v[i];
		else
			forget(&r->v[i]);
	}
	r->n = n;
}

static int lives(const struct registered *e)
{
	return !pidfd_has_ended(e->pidfd);
}

static int lives_and_answers(const struct registered *e)
{
	return !pidfd_has_ended(e->pidfd) && answers(e);
}

/* What it is to this process. */

static int read_mount_namespace(const char *pid, char *out, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%s/ns/mnt", pid);
	n = readlink(path, out, size - 1);
	out[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* A path of another mount namespace leads there only by way of a process in it. */
static void make_reachable(struct notice *n, pid_t peer)
{
	char address[2 * NOTICE_ADDRESS_BYTES];
	char pid[16];
	char ours[64];
	char its[64];

	snprintf(pid, sizeof pid, "%d", (int)peer);
	if (!peer || !read_mount_namespace("self", ours, sizeof ours) ||
		!read_mount_namespace(pid, its, sizeof its) || strcmp(ours, its) == 0)
		return;
	snprintf(
		address, sizeof address, "unix:/proc/%s/root%s", pid, n->address + strlen("unix:"));
	if (strlen(address) < sizeof n->address)
		strcpy(n->address, address);
}

static int is_of(const struct registered *e, const struct registered *other)
{
	return strcmp(e->address, other->address) == 0 ||
	       (e->is_pid_ours && other->is_pid_ours && e->pid == other->pid);
}

static int put(struct registry *r, const struct registered *e)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!is_of(&r->v[i], e))
			continue;
		forget(&r->v[i]);
		r->v[i] = *e;
		return 0;
	}
	if (r->n == REGISTRY_MAX)
		return -ENOSPC;
	r->v[r->n++] = *e;
	return 0;
}

int registry_add(struct registry *r, struct notice *n, pid_t peer)
{
	struct registered e = {.pid = n->pid, .since_ns = realtime_ns()};
	int pid = n->pidfd >= 0 ? pidfd_find_pid(n->pidfd) : 0;
	int error;

	e.pidfd = descriptors_keep(n->pidfd, DESCRIPTORS_OF_CHILDREN);
	n->pidfd = -1;
	if (pid < 0) {
		forget(&e);
		return pid;
	}
	if (pid > 0) {
		e.pid = pid;
		e.is_pid_ours = 1;
	}
	make_reachable(n, peer);
	memcpy(e.address, n->address, sizeof e.address);
	pthread_mutex_lock(&r->mutex);
	prune(r, lives);
	error = put(r, &e);
	pthread_mutex_unlock(&r->mutex);
	if (error)
		forget(&e);
	return error;
}

size_t registry_list(struct registry *r, struct registered *out)
{
	size_t n;

	pthread_mutex_lock(&r->mutex);
	prune(r, lives_and_answers);
	n = r->n;
	memcpy(out, r->v, n * sizeof *out);
	pthread_mutex_unlock(&r->mutex);
	return n;
}
