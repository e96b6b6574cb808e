/* SPDX-License-Identifier: Apache-2.0 */
/* Starting servers; see starter.h. */
#include "daemon/serve/children/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/passed_fd.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/stock_query.h"
#include "daemon/target/target.h"
#include "lib/wire/serve.h"

/* --- requests -------------------------------------------------------------------------------- */

bool serve_request_is_next(int fd)
{
	char word[SERVE_WORD_BYTES];

	return recv(fd, word, sizeof word, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof word &&
	       memcmp(word, SERVE_WORD, sizeof word) == 0;
}

static bool socket_has_option(int fd, int name, int value)
{
	int is;
	socklen_t n = sizeof is;

	return getsockopt(fd, SOL_SOCKET, name, &is, &n) == 0 && is == value;
}

static bool socket_is_listener(int fd)
{
	return socket_has_option(fd, SO_ACCEPTCONN, 1) &&
	       socket_has_option(fd, SO_TYPE, SOCK_STREAM) &&
	       (socket_has_option(fd, SO_DOMAIN, AF_INET) ||
		       socket_has_option(fd, SO_DOMAIN, AF_INET6) ||
		       socket_has_option(fd, SO_DOMAIN, AF_UNIX));
}

static int serve_request_check(const struct serve_request *request, size_t n, const int *fds)
{
	if (n != sizeof *request || memcmp(request->word, SERVE_WORD, SERVE_WORD_BYTES) != 0)
		return -EPROTO;
	if (!arena_file_find_size(fds[0]) || (fds[1] >= 0 && !socket_is_listener(fds[1])))
		return -EBADMSG;
	return 0;
}

/* The server must not block in accept(), even if the program's listener is a blocking one. */
static int socket_unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

int serve_request_read(int fd, struct serve_request *request, struct serve_brought *brought)
{
	int fds[SERVE_MAX_DESCRIPTORS];
	ssize_t n = passed_fds_receive(fd, request, sizeof *request, fds, SERVE_MAX_DESCRIPTORS);
	int r = n < 0 ? (int)n : serve_request_check(request, (size_t)n, fds);

	if (!r && fds[1] >= 0)
		r = socket_unblock(fds[1]);
	for (int i = 0; r && i < SERVE_MAX_DESCRIPTORS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	brought->arena = fds[0];
	brought->listener = fds[1];
	return r;
}

int serve_request_answer(int fd, int result)
{
	const struct serve_answer answer = {.result = result};

	return send(fd, &answer, sizeof answer, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* --- the server's process --------------------------------------------------------------------- */

/*
 * A program's request for a server, and the kernel's facts about the program. It is read in a
 * separate process, which has one thread.
 */
struct server_request {
	struct serve_request request;
	struct serve_brought brought;
	pid_t peer;
	uid_t uid; /* of the peer */
	pid_t program;
	struct identity identity; /* of the program */
};

/*
 * Returns the program's pid. The peer is the program itself, or a clone of it that waits for the
 * answer; the clone's parent is the program, unless the program has ended.
 */
static pid_t find_program(const struct server_request *h)
{
	return h->request.is_program ? h->peer : lineage_get_parent("", h->peer);
}

/*
 * Finds the program and its user. A peer without a pid in this process's namespace cannot be
 * served.
 */
static int find_identity(struct server_request *h, int connection)
{
	int r = unix_peer_identify(connection, &h->peer, &h->uid);

	if (r || h->peer <= 0)
		return r ? r : -ESRCH;
	h->program = find_program(h);
	if (h->program <= 0)
		return -ESRCH;
	r = identity_find("", h->program, &h->identity);
	if (r)
		return r == -ENOENT ? -ESRCH : r;
	return h->identity.uid == h->uid ? 0 : -EPERM;
}

static int read_request(struct server_request *h, int connection)
{
	int r = serve_request_read(connection, &h->request, &h->brought);

	return r ? r : find_identity(h, connection);
}

/* Removes the service manager's variables, which are for the daemon only. */
static void clean_environment_of_manager(void)
{
	static const char *const names[] = {"LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID",
		"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "JOURNAL_STREAM",
		"INVOCATION_ID"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

/* Duplicates |fd| to a number above those that place_descriptors() uses. */
static int raise_above(int fd)
{
	return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_FD_ANSWER + 1);
}

static int place_descriptor(int fd, int at)
{
	return dup2(fd, at) < 0 ? -errno : 0;
}

/*
 * Places the descriptors at the numbers that a server expects, and adds the one for the answer. All
 * others close at exec.
 */
static int place_descriptors(const struct server_request *h, int connection)
{
	bool has_listener = h->brought.listener >= 0;
	int null = raise_above(open("/dev/null", O_RDWR | O_CLOEXEC));
	int arena = raise_above(h->brought.arena);
	int listener = raise_above(h->brought.listener);
	int r = null < 0 || arena < 0 || (has_listener && listener < 0) ? -EMFILE : 0;

	for (int fd = 0; !r && fd < 3; fd++)
		r = place_descriptor(null, fd);
	if (!r)
		r = place_descriptor(arena, SPAWN_FD_ARENA);
	if (!r)
		r = place_descriptor(connection, SPAWN_FD_ANSWER);
	if (!r && has_listener)
		r = place_descriptor(listener, SPAWN_FD_LISTENER);
	else
		close(SPAWN_FD_LISTENER);
	/*
	 * The daemon may have inherited other descriptors. Before Linux 5.11 close_range() fails,
	 * and they stay open.
	 */
	close_range(SPAWN_FD_ANSWER + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	return r;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Execs the server, which outlives the daemon and its terminal. */
static int become_server(const struct server_request *h, int connection)
{
	char pid[16];
	int r = identity_assume(&h->identity);

	if (!r)
		r = place_descriptors(h, connection);
	if (r)
		return r;
	snprintf(pid, sizeof pid, "%d", (int)h->program);
	clean_environment_of_manager();
	reset_signals();
	setsid();
	if (chdir("/"))
		return -errno;
	execl("/proc/self/exe", "proftapd", "--attached", pid, "--lent", (char *)NULL);
	return -errno;
}

/*
 * Serves the program that sends its request on the connection |from|: execs proftapd as its
 * server, which answers. The kernel identifies the sender, which is the program or its clone. The
 * server gets the program's user, group and groups, and no capability. Returns only on failure,
 * with the negative errno that was sent as the answer.
 */
static int become_requested_server(int from)
{
	struct server_request h = {.peer = 0};
	/* It must lie above the numbers that place_descriptors() overwrites. */
	int connection = raise_above(from);
	int r = connection < 0 ? -EMFILE : read_request(&h, connection);

	if (!r) {
		log_info(LOG_TARGET, "process %d of uid %u gets a server: it can start none",
			(int)h.program, (unsigned)h.uid);
		r = become_server(&h, connection);
	}
	log_warn(LOG_TARGET, "process %d of uid %u asks for a server, and gets none: %s",
		(int)(h.program > 0 ? h.program : h.peer), (unsigned)h.uid, errno_words(r));
	serve_request_answer(connection < 0 ? from : connection, r);
	return r;
}

/* --- the starter's process -------------------------------------------------------------------- */

/* A server that still runs. */
struct started_server {
	pid_t pid;
	uid_t uid; /* of the program that asked for it */
};

struct started_servers {
	struct started_server v[STARTER_MAX_SERVERS];
	unsigned n;
	pid_t query_pid; /* the child that searches for JAX's and TensorFlow's servers; 0: none */
};

static void forget_server(struct started_servers *s, pid_t pid)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].pid == pid)
			s->v[i--] = s->v[--s->n];
}

static void reap_children(struct started_servers *s)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		forget_server(s, pid);
		if (pid == s->query_pid)
			s->query_pid = 0;
	}
}

static bool has_room(const struct started_servers *s, uid_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->v[i].uid == uid;
	return s->n < STARTER_MAX_SERVERS && (!uid || n < STARTER_MAX_OF_USER);
}

/* 0: the new process sends the answer. Otherwise a negative errno. */
static int fork_server(struct started_servers *s, int connection)
{
	struct started_server server;
	int r = unix_peer_identify(connection, &server.pid, &server.uid);

	if (r)
		return r;
	if (!has_room(s, server.uid))
		return -EUSERS;
	server.pid = fork();
	if (server.pid < 0)
		return -errno;
	if (!server.pid)
		_exit(become_requested_server(connection) ? 1 : 0);
	s->v[s->n++] = server;
	return 0;
}

static void refuse_server(int connection, int r)
{
	log_warn(LOG_TARGET, "a program asks for a server, and gets none: %s", errno_words(r));
	serve_request_answer(connection, r);
}

static void serve_program(struct started_servers *s, int connection)
{
	int r = fork_server(s, connection);

	if (r)
		refuse_server(connection, r);
	close(connection);
}

/*
 * Forks a child that finds the servers of JAX and TensorFlow. While an earlier query is under way,
 * the answer is empty.
 */
static void fork_query(struct started_servers *s, const char *message, size_t n, int out)
{
	pid_t pid = s->query_pid ? -1 : fork();

	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		stock_query_serve(message, n, out);
		_exit(0);
	}
	if (pid > 0)
		s->query_pid = pid;
	close(out);
}

/* Receives one message of the daemon. Returns false if the daemon has ended. */
static bool take_message(struct started_servers *s, int socket)
{
	char message[STOCK_QUERY_MAX_BYTES];
	int fd;
	ssize_t n = passed_fd_receive(socket, message, sizeof message, &fd);

	if (n > 0 && fd >= 0 && message[0] == STOCK_QUERY_WORD)
		fork_query(s, message, (size_t)n, fd);
	else if (n > 0 && fd >= 0)
		serve_program(s, fd);
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

static void drain_signals(int signals)
{
	struct signalfd_siginfo info[16];

	while (read(signals, info, sizeof info) > 0)
		;
}

/* Runs until the socket is closed. Signals from a terminal are for the daemon. */
static void starter_run(int socket)
{
	static struct started_servers servers;
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
			drain_signals(waited[1].fd);
			reap_children(&servers);
		}
		if (waited[0].revents && !take_message(&servers, socket))
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
		starter_run(ends[1]);
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
		refuse_server(connection, r);
}
