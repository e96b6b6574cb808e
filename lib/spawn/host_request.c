/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a host daemon; see host_request.h. As with a server's start, all descriptors are made
 * in a clone that shares the memory and not the descriptor table: the program's table is never
 * touched. The clone waits for the answer, so that the daemon finds the clone's parent, the
 * program, in /proc.
 *
 * The receiver of the arena can make this process write to addresses of its choice. So the arena
 * goes only to a daemon of root or of the same user.
 */
#include "lib/spawn/host_request.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"
#include "lib/spawn/spawn.h"
#include "lib/wire/serve.h"

static SPAWN_RAW int set_result(struct host_request *q, enum host_request_result result, long error)
{
	q->result = result;
	q->error = (int)error;
	return result == HOST_REQUEST_SERVED;
}

/* Returns a connected descriptor, or a negative errno. */
static SPAWN_RAW long connect_to(const struct sockaddr_un *place)
{
	struct timeval timeout;
	int on = 1;
	long fd = raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd;
	timeout.tv_sec = SERVE_TIMEOUT_MS / 1000;
	timeout.tv_usec = 0;
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
	/* The kernel then passes the sender's credentials with the answer. */
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	r = raw3(SYS_connect, fd, place, sizeof *place);
	if (r == 0)
		return fd;
	raw1(SYS_close, fd);
	return r;
}

static SPAWN_RAW bool is_trusted(long fd)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return false;
	return peer.uid == 0 || peer.uid == (uid_t)raw0(SYS_geteuid);
}

static SPAWN_RAW long send_request(const struct host_request *q, long fd, bool is_apart)
{
	const char *word = SERVE_WORD;
	const struct spawn *s = q->spawn;
	unsigned n = s->address_bytes ? 2 : 1;
	struct serve_request request;
	struct {
		struct raw_control head;
		int fds[SERVE_MAX_DESCRIPTORS];
	} control;
	struct iovec piece;
	struct raw_message message;

	for (int i = 0; i < SERVE_WORD_BYTES; i++)
		request.word[i] = word[i];
	request.is_program = !is_apart;
	piece.iov_base = &request;
	piece.iov_len = sizeof request;
	control.head.n_bytes = sizeof control.head + n * sizeof *control.fds;
	control.head.level = SOL_SOCKET;
	control.head.type = SCM_RIGHTS;
	control.fds[0] = s->memfd;
	control.fds[1] = s->listener;
	raw_message_set(&message, &piece, &control, control.head.n_bytes);
	return raw3(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
}

/* The sender of the answer is the server; its pid reads 0 in another pid namespace. */
static SPAWN_RAW long receive_message(struct host_request *q, long fd, struct serve_answer *answer)
{
	struct {
		struct raw_control head;
		struct ucred who;
	} control;
	struct iovec piece;
	struct raw_message message;
	long n;

	piece.iov_base = answer;
	piece.iov_len = sizeof *answer;
	control.head.type = 0;
	raw_message_set(&message, &piece, &control, sizeof control);
	n = raw3(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC);
	q->spawn->pid =
		n > 0 && control.head.level == SOL_SOCKET && control.head.type == SCM_CREDENTIALS
			? control.who.pid
			: 0;
	return n;
}

static SPAWN_RAW int receive_answer(struct host_request *q, long fd)
{
	struct serve_answer answer;
	long n = receive_message(q, fd, &answer);

	/*
	 * A daemon that answered and closed without reading the request causes one ECONNRESET
	 * first; the answer comes with the next read.
	 */
	if (n == -ECONNRESET)
		n = receive_message(q, fd, &answer);
	if (n == (long)sizeof answer)
		return set_result(q, answer.result ? HOST_REQUEST_REFUSED : HOST_REQUEST_SERVED,
			answer.result);
	return set_result(q, HOST_REQUEST_NO_ANSWER,
		n == -EAGAIN ? -ETIMEDOUT
		: n < 0	     ? n
			     : -ECONNRESET);
}

static SPAWN_RAW int request_server(struct host_request *q, long fd, bool is_apart)
{
	long n;

	if (!is_trusted(fd))
		return set_result(q, HOST_REQUEST_UNTRUSTED, -EPERM);
	if (!q->spawn->arena && child_make_descriptors(q->spawn))
		return set_result(q, HOST_REQUEST_NO_ARENA, q->spawn->error);
	n = send_request(q, fd, is_apart);
	if (n < 0 && n != -EPIPE)
		return set_result(q, HOST_REQUEST_NO_ANSWER, n == -EAGAIN ? -ETIMEDOUT : n);
	return receive_answer(q, fd);
}

static SPAWN_RAW bool means_no_daemon(long error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR || error == -EACCES;
}

/*
 * Returns whether the search is over. No other place is tried once a server has the arena or may
 * still receive it.
 */
static SPAWN_RAW bool try_place(
	struct host_request *q, const struct sockaddr_un *place, bool is_apart)
{
	long fd = connect_to(place);
	bool is_over;

	if (fd < 0 && means_no_daemon(fd))
		return false;
	if (fd < 0) {
		set_result(q, HOST_REQUEST_NO_ANSWER, fd);
		return true;
	}
	is_over = request_server(q, fd, is_apart) ||
		  (q->result != HOST_REQUEST_UNTRUSTED && q->result != HOST_REQUEST_REFUSED);
	raw1(SYS_close, fd);
	return is_over;
}

static SPAWN_RAW void try_places(struct host_request *q, bool is_apart)
{
	for (unsigned i = 0; i < q->n_places; i++)
		if (try_place(q, &q->places[i], is_apart))
			return;
	if (q->result != HOST_REQUEST_UNTRUSTED && q->result != HOST_REQUEST_REFUSED)
		set_result(q, HOST_REQUEST_NO_DAEMON, -ENOENT);
}

static SPAWN_RAW bool had_full_table(const struct host_request *q)
{
	return q->error == -EMFILE &&
	       (q->result == HOST_REQUEST_NO_ARENA || q->result == HOST_REQUEST_NO_ANSWER);
}

static SPAWN_RAW void close_descriptors(struct spawn *s)
{
	if (s->listener >= 0)
		raw1(SYS_close, s->listener);
	if (s->memfd >= 0)
		raw1(SYS_close, s->memfd);
}

static SPAWN_RAW void unmap_arena(struct spawn *s)
{
	if (s->arena)
		raw2(SYS_munmap, s->arena, s->arena_bytes);
	s->arena = NULL;
}

static SPAWN_RAW void run_request(void *p, bool is_apart)
{
	struct host_request *q = p;
	struct spawn *s = q->spawn;

	try_places(q, is_apart);
	/* The program's descriptor table is full. The clone needs no descriptor of its copy. */
	if (is_apart && had_full_table(q)) {
		unmap_arena(s);
		s->error = 0;
		child_mark_descriptors(0, true);
		try_places(q, is_apart);
	}
	close_descriptors(s);
}

int host_request_run(struct host_request *q)
{
	struct spawn *s = q->spawn;
	int r;

	s->error = 0;
	s->listener = s->memfd = -1;
	s->arena = NULL;
	s->pid = 0;
	/* This result stays if a sandbox kills the clone for a forbidden call. */
	set_result(q, HOST_REQUEST_NO_ANSWER, -ECHILD);
	r = spawn_run_apart(run_request, q);
	if (r)
		set_result(q, HOST_REQUEST_NO_ANSWER, r);
	if (q->result != HOST_REQUEST_SERVED)
		unmap_arena(s);
	return q->result == HOST_REQUEST_SERVED ? 0 : q->error;
}
