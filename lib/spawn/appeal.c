/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appeals; see appeal.h. As with a server's start, all descriptors are made in a clone that shares the memory and not
 * the descriptor table: the host's table is never touched. The clone waits for the answer, so that the daemon finds its
 * parent, the program, in /proc.
 *
 * Who gets the arena can make this process write where he likes: so it goes to root's daemon, or to the own user's.
 */
#include "lib/spawn/appeal.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"
#include "lib/spawn/spawn.h"
#include "lib/wire/serve.h"

static SPAWN_RAW int end(struct appeal *a, enum appeal_end how, long error)
{
	a->end = how;
	a->error = (int)error;
	return how == APPEAL_MADE;
}

/* The descriptor, or a negative errno; -EPERM: no daemon for this program. */
static SPAWN_RAW long connect_to(const struct sockaddr_un *place)
{
	struct timeval patience;
	int on = 1;
	long fd = raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd;
	patience.tv_sec = SERVE_TIMEOUT_MS / 1000;
	patience.tv_usec = 0;
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	/* With the answer the kernel says who sent it. */
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	r = raw3(SYS_connect, fd, place, sizeof *place);
	if (r == 0)
		return fd;
	raw1(SYS_close, fd);
	return r;
}

static SPAWN_RAW int is_trusted(long fd)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return 0;
	return peer.uid == 0 || peer.uid == (uid_t)raw0(SYS_geteuid);
}

static SPAWN_RAW long send_request(const struct appeal *a, long fd, int is_apart)
{
	const char *word = SERVE_WORD;
	const struct spawn *s = a->spawn;
	unsigned n = s->address_bytes ? 2 : 1;
	struct serve_request request;
	struct {
		struct cmsghdr head;
		int fds[SERVE_MAX_DESCRIPTORS];
	} control;
	struct iovec piece;
	struct msghdr message;

	for (int i = 0; i < SERVE_WORD_BYTES; i++)
		request.word[i] = word[i];
	request.is_program = !is_apart;
	piece.iov_base = &request;
	piece.iov_len = sizeof request;
	control.head.cmsg_len = CMSG_LEN(n * sizeof *control.fds);
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.fds[0] = s->memfd;
	control.fds[1] = s->listener;
	message.msg_name = NULL;
	message.msg_namelen = 0;
	message.msg_iov = &piece;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = CMSG_LEN(n * sizeof *control.fds);
	message.msg_flags = 0;
	return raw3(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
}

/* The answer's sender is the server, whose pid is 0 in another pid namespace. */
static SPAWN_RAW long receive(struct appeal *a, long fd, struct serve_answer *answer)
{
	struct {
		struct cmsghdr head;
		struct ucred who;
	} control;
	struct iovec piece;
	struct msghdr message;
	long n;

	piece.iov_base = answer;
	piece.iov_len = sizeof *answer;
	control.head.cmsg_type = 0;
	message.msg_name = NULL;
	message.msg_namelen = 0;
	message.msg_iov = &piece;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof control;
	message.msg_flags = 0;
	n = raw3(SYS_recvmsg, fd, &message, MSG_CMSG_CLOEXEC);
	a->spawn->pid = n > 0 && control.head.cmsg_level == SOL_SOCKET &&
					control.head.cmsg_type == SCM_CREDENTIALS
				? control.who.pid
				: 0;
	return n;
}

static SPAWN_RAW int hear(struct appeal *a, long fd)
{
	struct serve_answer answer;
	long n = receive(a, fd, &answer);

	/* A daemon that has not read the request has answered and closed; that comes first, and once. */
	if (n == -ECONNRESET)
		n = receive(a, fd, &answer);
	if (n == (long)sizeof answer)
		return end(a, answer.result ? APPEAL_REFUSED : APPEAL_MADE, answer.result);
	return end(a, APPEAL_UNHEARD, n == -EAGAIN ? -ETIMEDOUT : n < 0 ? n : -ECONNRESET);
}

static SPAWN_RAW int ask(struct appeal *a, long fd, int is_apart)
{
	long n;

	if (!is_trusted(fd))
		return end(a, APPEAL_STRANGER, -EPERM);
	if (!a->spawn->arena && child_make_descriptors(a->spawn))
		return end(a, APPEAL_NOT_MADE, a->spawn->error);
	n = send_request(a, fd, is_apart);
	if (n < 0 && n != -EPIPE)
		return end(a, APPEAL_UNHEARD, n == -EAGAIN ? -ETIMEDOUT : n);
	return hear(a, fd);
}

static SPAWN_RAW int is_nobody(long error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR || error == -EACCES;
}

/* Whether another place is worth a try: not where a server may have the arena, or comes to have it. */
static SPAWN_RAW int try_place(struct appeal *a, const struct sockaddr_un *place, int is_apart)
{
	long fd = connect_to(place);
	int is_over;

	if (fd < 0 && is_nobody(fd))
		return 0;
	if (fd < 0) {
		end(a, APPEAL_UNHEARD, fd);
		return 1;
	}
	is_over = ask(a, fd, is_apart) || (a->end != APPEAL_STRANGER && a->end != APPEAL_REFUSED);
	raw1(SYS_close, fd);
	return is_over;
}

static SPAWN_RAW void try_places(struct appeal *a, int is_apart)
{
	for (unsigned i = 0; i < a->n_places; i++)
		if (try_place(a, &a->places[i], is_apart))
			return;
	if (a->end != APPEAL_STRANGER && a->end != APPEAL_REFUSED)
		end(a, APPEAL_NOBODY, -ENOENT);
}

static SPAWN_RAW int had_no_room(const struct appeal *a)
{
	return a->error == -EMFILE && (a->end == APPEAL_NOT_MADE || a->end == APPEAL_UNHEARD);
}

static SPAWN_RAW void close_descriptors(struct spawn *s)
{
	if (s->listener >= 0)
		raw1(SYS_close, s->listener);
	if (s->memfd >= 0)
		raw1(SYS_close, s->memfd);
}

static SPAWN_RAW void unmap(struct spawn *s)
{
	if (s->arena)
		raw2(SYS_munmap, s->arena, s->arena_bytes);
	s->arena = NULL;
}

static SPAWN_RAW void run(void *p, int is_apart)
{
	struct appeal *a = p;
	struct spawn *s = a->spawn;

	try_places(a, is_apart);
	/* The host's table is full: in this copy of it, nothing is needed. */
	if (is_apart && had_no_room(a)) {
		unmap(s);
		s->error = 0;
		child_mark_descriptors(0, 1);
		try_places(a, is_apart);
	}
	close_descriptors(s);
}

int appeal_run(struct appeal *a)
{
	struct spawn *s = a->spawn;
	int r;

	s->error = 0;
	s->listener = s->memfd = -1;
	s->arena = NULL;
	s->pid = 0;
	/* Stays when the clone is killed: by a sandbox that forbids what it does. */
	end(a, APPEAL_UNHEARD, -ECHILD);
	r = spawn_run_apart(run, a);
	if (r)
		end(a, APPEAL_UNHEARD, r);
	if (a->end != APPEAL_MADE)
		unmap(s);
	return a->end == APPEAL_MADE ? 0 : a->error;
}
