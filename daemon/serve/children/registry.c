/* SPDX-License-Identifier: Apache-2.0 */
/* Children that announced themselves; see registry.h. */
#include "daemon/serve/children/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/printable.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/passed_fd.h"
#include "daemon/kernel/process_exit.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/door/greeting.h"

/* --- notices ------------------------------------------------------------------------------- */

#define NOTICE_MAX_BYTES (GREETING_BYTES + NOTICE_ADDRESS_BYTES + 40)

int notice_send(int fd, const struct notice *n)
{
	char text[NOTICE_MAX_BYTES];
	int n_bytes = snprintf(text, sizeof text, "%s%d %u %s\n", greeting_notice, (int)n->pid,
		n->n_hops, n->address);

	return passed_fd_send(fd, text, (size_t)n_bytes, n->pidfd);
}

/* Checks a notice, because its texts go to clients and into logs. */
static bool notice_is_in_range(const struct notice *n)
{
	size_t n_bytes = strlen(n->address);

	for (size_t at = 0, kept; at < n_bytes; at += kept) {
		kept = printable_length(n->address + at, n_bytes - at);
		if (!kept)
			return false;
	}
	return n->pid > 0 && n->n_hops < NOTICE_MAX_HOPS && strncmp(n->address, "unix:/", 6) == 0;
}

static int notice_parse(const char *text, size_t n_bytes, struct notice *out)
{
	int pid;
	int end = -1;

	if (strncmp(text, greeting_notice, GREETING_BYTES) ||
		sscanf(text + GREETING_BYTES, "%d %u %127[^\n]%n", &pid, &out->n_hops, out->address,
			&end) != 3 ||
		GREETING_BYTES + (size_t)end + 1 != n_bytes || text[n_bytes - 1] != '\n')
		return -EPROTO;
	out->pid = pid;
	return notice_is_in_range(out) ? 0 : -EPROTO;
}

int notice_read(int fd, struct notice *out)
{
	char text[NOTICE_MAX_BYTES + 1];
	ssize_t n = passed_fd_receive(fd, text, NOTICE_MAX_BYTES, &out->pidfd);
	int r;

	if (n < 0)
		return (int)n;
	text[n] = '\0';
	r = notice_parse(text, (size_t)n, out);
	if (r && out->pidfd >= 0)
		close(out->pidfd);
	return r;
}

/* --- the registry -------------------------------------------------------------------------- */

void registry_init(struct registry *r)
{
	r->n = 0;
	pthread_mutex_init(&r->mutex, NULL);
}

static void registered_forget(struct registered *e)
{
	if (e->pidfd >= 0)
		close(e->pidfd);
	e->pidfd = -1;
}

static bool registered_answers(const struct registered *e)
{
	int fd = unix_peer_connect(e->address);

	if (fd >= 0)
		close(fd);
	/* A server whose queue is full is alive. */
	return fd >= 0 || fd == -EAGAIN;
}

static void registry_prune(struct registry *r, bool (*is_kept)(const struct registered *))
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (is_kept(&r->v[i]))
			r->v[n++] = r->v[i];
		else
			registered_forget(&r->v[i]);
	}
	r->n = n;
}

static bool registered_lives(const struct registered *e)
{
	return !pidfd_has_ended(e->pidfd);
}

static bool registered_lives_and_answers(const struct registered *e)
{
	return !pidfd_has_ended(e->pidfd) && registered_answers(e);
}

static bool read_mount_namespace(const char *pid, char *out, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%s/ns/mnt", pid);
	n = readlink(path, out, size - 1);
	out[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/*
 * From another mount namespace, the path can be reached only through /proc/PID/root of a process
 * there.
 */
static void notice_make_reachable(struct notice *n, pid_t peer)
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

static bool registered_is_same(const struct registered *e, const struct registered *other)
{
	return strcmp(e->address, other->address) == 0 ||
	       (e->is_pid_ours && other->is_pid_ours && e->pid == other->pid);
}

static int registry_put(struct registry *r, const struct registered *e)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!registered_is_same(&r->v[i], e))
			continue;
		registered_forget(&r->v[i]);
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
		registered_forget(&e);
		return pid;
	}
	if (pid > 0) {
		e.pid = pid;
		e.is_pid_ours = true;
	}
	notice_make_reachable(n, peer);
	memcpy(e.address, n->address, sizeof e.address);
	pthread_mutex_lock(&r->mutex);
	registry_prune(r, registered_lives);
	error = registry_put(r, &e);
	pthread_mutex_unlock(&r->mutex);
	if (error)
		registered_forget(&e);
	return error;
}

size_t registry_list(struct registry *r, struct registered *out)
{
	size_t n;

	pthread_mutex_lock(&r->mutex);
	registry_prune(r, registered_lives_and_answers);
	n = r->n;
	memcpy(out, r->v, n * sizeof *out);
	pthread_mutex_unlock(&r->mutex);
	return n;
}
