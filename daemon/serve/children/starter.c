/* SPDX-License-Identifier: Apache-2.0 */
/* Starting servers; see starter.h. */
#include "daemon/serve/children/starter.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/passed_fd.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/hearing.h"
#include "daemon/serve/children/serve_request.h"
#include "daemon/serve/children/stock_look.h"

/* One that lives. */
struct server {
	pid_t pid;
	uid_t uid; /* who asked for it */
};

struct servers {
	struct server v[STARTER_MAX_SERVERS];
	unsigned n;
	pid_t looker; /* looks for servers of another make; 0: none does */
};

static void forget(struct servers *s, pid_t pid)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].pid == pid)
			s->v[i--] = s->v[--s->n];
}

static void reap(struct servers *s)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		forget(s, pid);
		if (pid == s->looker)
			s->looker = 0;
	}
}

static int has_room(const struct servers *s, uid_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->v[i].uid == uid;
	return s->n < STARTER_MAX_SERVERS && (!uid || n < STARTER_MAX_OF_USER);
}

/* 0, and somebody answers; or a negative errno. */
static int start(struct servers *s, int connection)
{
	struct server server;
	int r = unix_peer_identify(connection, &server.pid, &server.uid);

	if (r)
		return r;
	if (!has_room(s, server.uid))
		return -EUSERS;
	server.pid = fork();
	if (server.pid < 0)
		return -errno;
	if (!server.pid)
		_exit(hearing_hold(connection) ? 1 : 0);
	s->v[s->n++] = server;
	return 0;
}

static void refuse(int connection, int r)
{
	log_warn(LOG_TARGET, "a program asks for a server, and gets none: %s", errno_words(r));
	serve_request_answer(connection, r);
}

static void serve(struct servers *s, int connection)
{
	int r = start(s, connection);

	if (r)
		refuse(connection, r);
	close(connection);
}

/* Looks in a child. While an earlier look runs, a request is answered with nothing. */
static void look(struct servers *s, const char *message, size_t n, int out)
{
	pid_t pid = s->looker ? -1 : fork();

	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		stock_look_serve(message, n, out);
		_exit(0);
	}
	if (pid > 0)
		s->looker = pid;
	close(out);
}

/* 0 at the daemon's end. */
static int obey(struct servers *s, int socket)
{
	char message[STOCK_LOOK_MAX_BYTES];
	int fd;
	ssize_t n = passed_fd_receive(socket, message, sizeof message, &fd);

	if (n > 0 && fd >= 0 && message[0] == STOCK_LOOK_WORD)
		look(s, message, (size_t)n, fd);
	else if (n > 0 && fd >= 0)
		serve(s, fd);
	return n > 0 || n == -EAGAIN || n == -EBADMSG;
}

static int watch_children(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void drain(int signals)
{
	struct signalfd_siginfo info[16];

	while (read(signals, info, sizeof info) > 0)
		;
}

/* What ends a daemon in the foreground is for the daemon: this one goes when the socket is closed. */
static void run(int socket)
{
	static struct servers servers;
	struct pollfd waited[] = {
		{.fd = socket, .events = POLLIN}, {.fd = watch_children(), .events = POLLIN}};

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "proftapd-start");
	for (;;) {
		if (poll(waited, 2, -1) < 0 && errno != EINTR)
			return;
		if (waited[1].revents & POLLIN) {
			drain(waited[1].fd);
			reap(&servers);
		}
		if (waited[0].revents && !obey(&servers, socket))
			return;
	}
}

int starter_open(struct starter *s)
{
	int ends[2];
	pid_t pid;

	s->socket = -1;
	s->may_become_others = geteuid() != 0 &&
			       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SETUID, 0, 0) > 0 &&
			       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_SETGID, 0, 0) > 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		run(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -errno;
	}
	s->socket = ends[0];
	return 0;
}

void starter_hand_over(struct starter *s, int connection)
{
	int r = s->socket < 0 ? -ENOSYS : passed_fd_send(s->socket, "", 1, connection);

	if (r)
		refuse(connection, r);
}
