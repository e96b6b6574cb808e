/* SPDX-License-Identifier: Apache-2.0 */
/* Questions; see questions.h. */
#include "client/target/questions.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "client/process/clock.h"
#include "client/target/dial_unix.h"

int questions_ask(struct questions *q, const char *path)
{
	struct question *one;

	if (grow(&q->v, &q->n_allocated, q->n + 1))
		return -ENOMEM;
	one = &q->v[q->n++];
	*one = (struct question){.fd = dial_path(path)};
	snprintf(one->path, sizeof one->path, "%s", path);
	if (one->fd < 0)
		one->error = one->fd;
	return 0;
}

static void end(struct question *one, int error)
{
	close(one->fd);
	one->fd = -1;
	one->error = error;
}

/* Root looks at other users' servers, too: only the kernel says truly whose one is. */
static int set_true_uid(int fd, struct status *status)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return -errno;
	/* A server of root's may serve a program that is another user's by now. */
	if (peer.uid != 0)
		status->uid = peer.uid;
	return 0;
}

static void read_answer(struct question *one)
{
	int r = status_parse(one->text, one->n_bytes, &one->status);

	end(one, r ? r : set_true_uid(one->fd, &one->status));
}

/* The server hangs up behind its answer. */
static void read_some(struct question *one)
{
	ssize_t r = recv(
		one->fd, one->text + one->n_bytes, sizeof one->text - one->n_bytes, MSG_DONTWAIT);

	if (r < 0 && errno != EAGAIN && errno != EINTR)
		end(one, -errno);
	if (r < 0)
		return;
	one->n_bytes += (size_t)r;
	if (r == 0 || one->n_bytes == sizeof one->text)
		read_answer(one);
}

static bool is_any_open(const struct questions *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].fd >= 0)
			return true;
	return false;
}

static void read_once(struct questions *q, int64_t left_ms)
{
	struct pollfd fds[QUESTIONS_MAX];

	for (size_t i = 0; i < q->n; i++)
		fds[i] = (struct pollfd){.fd = q->v[i].fd, .events = POLLIN};
	if (poll(fds, q->n, (int)left_ms) <= 0)
		return;
	for (size_t i = 0; i < q->n; i++)
		if (fds[i].revents)
			read_some(&q->v[i]);
}

void questions_wait(struct questions *q, int answer_ms)
{
	int64_t end_ms = clock_monotonic_ms() + answer_ms;
	int64_t left_ms = answer_ms;

	while (is_any_open(q) && left_ms > 0) {
		read_once(q, left_ms);
		left_ms = end_ms - clock_monotonic_ms();
	}
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].fd >= 0)
			end(&q->v[i], -ETIMEDOUT);
}

void questions_deinit(struct questions *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].fd >= 0)
			close(q->v[i].fd);
	free(q->v);
	*q = (struct questions)QUESTIONS_INIT;
}
