/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joining; see join.h. As with the server's start, all descriptors are made in a clone that shares
 * the memory and not the descriptor table: the host's table is never touched. The clone waits for
 * the server's answer, so that the server finds its parent, the process that joins, in /proc.
 *
 * Everybody can read the socket's name in /proc/net/unix, and bind it after the server has ended.
 * The receiver of the arena can make this process write to addresses of its choice. So the arena
 * goes to the server only.
 */
#include "lib/spawn/join.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"

struct join *join_new(void)
{
	void *p = mmap(NULL, sizeof(struct join), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct join *join_free(struct join *j)
{
	if (j)
		munmap(j, sizeof *j);
	return NULL;
}

/* Writes through the descriptor, because the mapping of the new arena has no access yet. */
static SPAWN_RAW long write_head(struct join *j)
{
	long n = raw4(SYS_pwrite64, j->spawn.memfd, &j->head, ARENA_BASE_BYTES, 0);

	if (n >= 0)
		n = raw4(SYS_pwrite64, j->spawn.memfd, j->strings, j->strings_bytes,
			ARENA_HEAD_BYTES);
	return n == (long)j->strings_bytes ? 0 : n < 0 ? n : -ENOSPC;
}

/*
 * Checks the peer by its pid, or by its user if it is in another pid namespace and has no pid here.
 * After the server's death its pid may belong to any process, so the server must also live.
 */
static SPAWN_RAW bool is_the_server(const struct join *j, long fd)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return false;
	if (peer.pid ? peer.pid != j->server_pid : peer.uid != j->server_uid)
		return false;
	return (atomic_load(j->server_owner) & ARENA_TID_MASK) != 0;
}

/*
 * Called after each timeout. True if the server answered others meanwhile, so that the next wait
 * may bring the answer.
 */
static SPAWN_RAW bool shall_wait_on(struct join *j)
{
	uint32_t n_heard = atomic_load(j->n_heard);
	bool has_moved = n_heard != j->n_heard_before;

	j->n_heard_before = n_heard;
	return has_moved && ++j->n_waits < JOIN_MAX_WAITS;
}

static SPAWN_RAW long connect_to_server(struct join *j)
{
	struct timeval timeout;
	struct sockaddr_un address;
	unsigned n = 0;
	long fd = raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return fd;
	timeout.tv_sec = j->timeout_ms / 1000;
	timeout.tv_usec = j->timeout_ms % 1000 * 1000;
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
	raw5(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
	address.sun_family = AF_UNIX;
	address.sun_path[0] = '\0';
	for (; j->name[n]; n++)
		address.sun_path[1 + n] = j->name[n];
	do
		r = raw3(SYS_connect, fd, &address, offsetof(struct sockaddr_un, sun_path) + 1 + n);
	while (r == -EAGAIN && shall_wait_on(j));
	if (r == 0 && is_the_server(j, fd))
		return fd;
	raw1(SYS_close, fd);
	if (r == 0)
		return -ECONNREFUSED;
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

static SPAWN_RAW long send_request(struct join *j, long fd)
{
	struct {
		struct raw_control head;
		int memfd;
	} control;
	struct iovec piece;
	struct raw_message message;
	long n;

	piece.iov_base = &j->request;
	piece.iov_len = sizeof j->request;
	control.head.n_bytes = sizeof control.head + sizeof control.memfd;
	control.head.level = SOL_SOCKET;
	control.head.type = SCM_RIGHTS;
	control.memfd = j->spawn.memfd;
	raw_message_set(&message, &piece, &control, control.head.n_bytes);
	n = raw3(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
	return n < 0 ? n : 0;
}

static SPAWN_RAW long read_answer(struct join *j, long fd)
{
	long n;

	do
		n = raw6(SYS_recvfrom, fd, (long)&j->answer, sizeof j->answer, 0, 0, 0);
	while (n == -EAGAIN && shall_wait_on(j));

	/*
	 * A server that answered and closed without reading the request causes one ECONNRESET
	 * first; the answer comes with the next read.
	 */
	if (n == -ECONNRESET)
		n = raw6(SYS_recvfrom, fd, (long)&j->answer, sizeof j->answer, 0, 0, 0);
	if (n < 0)
		return n == -EAGAIN ? -ETIMEDOUT : n;
	return n == (long)sizeof j->answer ? j->answer.result : -EPROTO;
}

static SPAWN_RAW long introduce_arena(struct join *j)
{
	long r = write_head(j);
	long fd;

	if (r < 0)
		return r;
	fd = connect_to_server(j);
	if (fd < 0)
		return fd;
	r = send_request(j, fd);
	if (r == 0 || r == -EPIPE)
		r = read_answer(j, fd);
	raw1(SYS_close, fd);
	return r;
}

static SPAWN_RAW long make_and_introduce_arena(struct join *j)
{
	long r = child_make_arena(&j->spawn);

	return r < 0 ? r : introduce_arena(j);
}

static SPAWN_RAW void run_join(void *p, bool is_apart)
{
	struct join *j = p;
	long r = make_and_introduce_arena(j);

	/* The host's descriptor table is full. This copy of it needs none of its descriptors. */
	if (r == -EMFILE && is_apart) {
		if (j->spawn.arena)
			raw2(SYS_munmap, j->spawn.arena, j->spawn.arena_bytes);
		j->spawn.arena = NULL;
		child_mark_descriptors(0, true);
		r = make_and_introduce_arena(j);
	}
	if (j->spawn.memfd >= 0)
		raw1(SYS_close, j->spawn.memfd);
	j->error = (int)r;
}

int join_run(struct join *j)
{
	int r;

	j->spawn.memfd = -1;
	/* This error stays if a sandbox kills the clone for a forbidden call. */
	j->error = -ECHILD;
	r = spawn_run_apart(run_join, j);

	if (r)
		j->error = r;
	if (j->error && j->spawn.arena) {
		munmap(j->spawn.arena, j->spawn.arena_bytes);
		j->spawn.arena = NULL;
	}
	return j->error;
}
