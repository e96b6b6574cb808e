/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's tables of connections; see peer_table.h and proc_net_tcp in its documentation. */
#include "daemon/kernel/peer_table.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/kernel/peer.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define LINE_BYTES 512
#define END_BYTES 48 /* 32 digits, a colon, 4 digits */

/* One end: its address, as IPv6 says it, and its port. */
struct end {
	struct in6_addr address;
	in_port_t port; /* as in a packet */
};

static struct end make_end(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
	struct end e = {.port = v4->sin_port};

	if (a->ss_family == AF_INET6) {
		e.address = v6->sin6_addr;
	} else {
		e.address.s6_addr32[2] = htonl(0xffff);
		e.address.s6_addr32[3] = v4->sin_addr.s_addr;
	}
	return e;
}

static int find_ends(int fd, struct end *us, struct end *them)
{
	struct sockaddr_storage a;
	struct sockaddr_storage b;
	socklen_t n_a = sizeof a;
	socklen_t n_b = sizeof b;

	if (getsockname(fd, (struct sockaddr *)&a, &n_a) ||
		getpeername(fd, (struct sockaddr *)&b, &n_b))
		return -errno;
	*us = make_end(&a);
	*them = make_end(&b);
	return 0;
}

/* As the table has it: numbers of the processor's own order. */
static void write_end(const struct end *e, int is_v4, char out[END_BYTES])
{
	const uint32_t *a = e->address.s6_addr32;

	if (is_v4)
		snprintf(out, END_BYTES, "%08X:%04X", a[3], ntohs(e->port));
	else
		snprintf(out, END_BYTES, "%08X%08X%08X%08X:%04X", a[0], a[1], a[2], a[3],
			ntohs(e->port));
}

/* Of a line: 1 when it is of these two. */
static int is_of(const char *line, const char *local, const char *remote, unsigned *state,
	unsigned *uid, unsigned long *inode)
{
	char l[END_BYTES];
	char r[END_BYTES];

	return sscanf(line, " %*d: %47s %47s %x %*s %*s %*s %u %*s %lu", l, r, state, uid, inode) ==
		       5 &&
	       strcmp(l, local) == 0 && strcmp(r, remote) == 0;
}

/* -ENOENT: it is not in this table. */
static int search(const char *path, const char *local, const char *remote, uid_t *uid)
{
	char line[LINE_BYTES];
	FILE *f = fopen(path, "re");
	int r = f ? -ENOENT : -errno;

	while (f && r == -ENOENT && fgets(line, sizeof line, f)) {
		unsigned state;
		unsigned owner;
		unsigned long inode;

		if (!is_of(line, local, remote, &state, &owner, &inode))
			continue;
		/* As in peer.c: a socket whose owner has closed it proves nothing. */
		r = state == TCP_ESTABLISHED && inode ? PEER_KNOWN : PEER_GONE;
		if (r == PEER_KNOWN)
			*uid = owner;
	}
	if (f)
		fclose(f);
	return r;
}

static int search_table(const char *root, pid_t pid, int is_v4, const struct end *us,
	const struct end *them, uid_t *uid)
{
	char path[512];
	char local[END_BYTES];
	char remote[END_BYTES];

	snprintf(path, sizeof path, "%s/proc/%d/net/%s", root, (int)pid, is_v4 ? "tcp" : "tcp6");
	/* The other end of the connection: from them to us. */
	write_end(them, is_v4, local);
	write_end(us, is_v4, remote);
	return search(path, local, remote, uid);
}

static int is_loopback(const struct end *e)
{
	return IN6_IS_ADDR_LOOPBACK(&e->address) ||
	       (IN6_IS_ADDR_V4MAPPED(&e->address) && e->address.s6_addr[12] == IN_LOOPBACKNET);
}

int peer_table_find_uid(const char *root, pid_t pid, int fd, uid_t *uid)
{
	struct end us;
	struct end them;
	int r = find_ends(fd, &us, &them);

	if (r)
		return r == -ENOTCONN ? PEER_GONE : r;
	r = -ENOENT;
	if (IN6_IS_ADDR_V4MAPPED(&us.address))
		r = search_table(root, pid, 1, &us, &them, uid);
	if (r == -ENOENT)
		r = search_table(root, pid, 0, &us, &them, uid);
	/* A machine without IPv6 has no such table. */
	if (r == -ENOENT)
		return is_loopback(&us) ? PEER_GONE : PEER_REMOTE;
	return r;
}

static int read_cookie(int fd, uint64_t *cookie)
{
	socklen_t n = sizeof *cookie;

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &n) ? -ENODATA : 0;
}

int peer_table_is_own_space(int fd)
{
	_cleanup_close_ int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t ours;
	uint64_t theirs;

	if (own < 0 || read_cookie(own, &ours) || read_cookie(fd, &theirs))
		return -ENODATA;
	return ours == theirs;
}
