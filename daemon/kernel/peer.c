/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer's uid, see peer.h: by NETLINK_SOCK_DIAG, or from the tables that the kernel's
 * documentation describes as proc_net_tcp, for a kernel without sock_diag and for other network
 * namespaces. The uid is that of the process that made the socket. A
 * socket whose owner has closed it is still found, and older kernels report uid 0 for it: only an
 * entry in ESTABLISHED with an inode counts.
 */

#include "daemon/kernel/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

/* --- By the tables of /proc ------------------------------------------------------------------- */

#define LINE_BYTES 512
#define END_BYTES 48 /* 32 digits, a colon, 4 digits */

/* One end: its address, in IPv6 form, and its port. */
struct end {
	struct in6_addr address;
	in_port_t port; /* in network byte order */
};

static struct end end_make(const struct sockaddr_storage *a)
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

static int socket_find_ends(int fd, struct end *us, struct end *them)
{
	struct sockaddr_storage a;
	struct sockaddr_storage b;
	socklen_t n_a = sizeof a;
	socklen_t n_b = sizeof b;

	if (getsockname(fd, (struct sockaddr *)&a, &n_a) ||
		getpeername(fd, (struct sockaddr *)&b, &n_b))
		return -errno;
	*us = end_make(&a);
	*them = end_make(&b);
	return 0;
}

/* Formats an end as in the table, whose numbers are in the processor's byte order. */
static void end_format(const struct end *e, bool is_v4, char out[END_BYTES])
{
	const uint32_t *a = e->address.s6_addr32;

	if (is_v4)
		snprintf(out, END_BYTES, "%08X:%04X", a[3], ntohs(e->port));
	else
		snprintf(out, END_BYTES, "%08X%08X%08X%08X:%04X", a[0], a[1], a[2], a[3],
			ntohs(e->port));
}

/* Returns true if the line connects these two ends. */
static bool line_is_of_ends(const char *line, const char *local, const char *remote,
	unsigned *state, unsigned *uid, unsigned long *inode)
{
	char l[END_BYTES];
	char r[END_BYTES];

	return sscanf(line, " %*d: %47s %47s %x %*s %*s %*s %u %*s %lu", l, r, state, uid, inode) ==
		       5 &&
	       strcmp(l, local) == 0 && strcmp(r, remote) == 0;
}

/* Returns PEER_REMOTE if the connection is not in this table. */
static int table_search(const char *path, const char *local, const char *remote, uid_t *uid)
{
	char line[LINE_BYTES];
	FILE *f = fopen(path, "re");
	int r = f ? PEER_REMOTE : -errno;

	while (f && r == PEER_REMOTE && fgets(line, sizeof line, f)) {
		unsigned state;
		unsigned owner;
		unsigned long inode;

		if (!line_is_of_ends(line, local, remote, &state, &owner, &inode))
			continue;
		/* A socket whose owner has closed it proves nothing. */
		r = state == TCP_ESTABLISHED && inode ? PEER_KNOWN : PEER_GONE;
		if (r == PEER_KNOWN)
			*uid = owner;
	}
	if (f && r == PEER_REMOTE && ferror(f))
		r = -EIO;
	if (f)
		fclose(f);
	return r;
}

/* Searches the table of |folder| for the other end of the connection: from the peer to us. */
static int folder_search(
	const char *folder, bool is_v4, const struct end *us, const struct end *them, uid_t *uid)
{
	char path[512];
	char local[END_BYTES];
	char remote[END_BYTES];

	snprintf(path, sizeof path, "%s/%s", folder, is_v4 ? "tcp" : "tcp6");
	end_format(them, is_v4, local);
	end_format(us, is_v4, remote);
	return table_search(path, local, remote, uid);
}

/* On loopback, the other end is on this machine, even if it is closed by now. */
static bool end_is_loopback(const struct end *e)
{
	return IN6_IS_ADDR_LOOPBACK(&e->address) ||
	       (IN6_IS_ADDR_V4MAPPED(&e->address) && e->address.s6_addr[12] == IN_LOOPBACKNET);
}

static int folder_find_uid(const char *folder, int fd, uid_t *uid)
{
	struct end us;
	struct end them;
	bool is_v4;
	int r = socket_find_ends(fd, &us, &them);

	if (r)
		return r == -ENOTCONN ? PEER_GONE : r;
	is_v4 = IN6_IS_ADDR_V4MAPPED(&us.address);
	r = folder_search(folder, is_v4, &us, &them, uid);
	if (r == PEER_REMOTE && is_v4) {
		/* The peer's socket may have an IPv6 address that stands for an IPv4 address. */
		r = folder_search(folder, 0, &us, &them, uid);
		/* A machine without IPv6 has no such table. */
		if (r == -ENOENT)
			r = PEER_REMOTE;
	}
	return r == PEER_REMOTE && end_is_loopback(&us) ? PEER_GONE : r;
}

int peer_table_find_uid(const char *root, pid_t pid, int fd, uid_t *uid)
{
	char folder[256];

	snprintf(folder, sizeof folder, "%s/proc/%d/net", root, (int)pid);
	return folder_find_uid(folder, fd, uid);
}

/* --- By NETLINK_SOCK_DIAG --------------------------------------------------------------------- */

struct query {
	struct nlmsghdr head;
	struct inet_diag_req_v2 request;
};

/*
 * The kernel finds a v4-mapped address by itself if the query has the family of our socket, IPv6.
 */
static void query_set_address(const struct sockaddr_storage *a, __be16 *port, __be32 address[4])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	*port = v4->sin_port;
	if (a->ss_family == AF_INET)
		address[0] = v4->sin_addr.s_addr;
	else
		memcpy(address, &v6->sin6_addr, sizeof v6->sin6_addr);
}

/* Asks for the peer's end of the connection, or for our own end. */
static int query_init(int fd, bool is_own_end, struct query *q)
{
	struct sockaddr_storage us;
	struct sockaddr_storage them;
	socklen_t n_us = sizeof us;
	socklen_t n_them = sizeof them;

	if (getsockname(fd, (struct sockaddr *)&us, &n_us) ||
		getpeername(fd, (struct sockaddr *)&them, &n_them))
		return -errno;
	memset(q, 0, sizeof *q);
	q->head.nlmsg_len = sizeof *q;
	q->head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	q->head.nlmsg_flags = NLM_F_REQUEST;
	q->request.sdiag_family = (uint8_t)us.ss_family;
	q->request.sdiag_protocol = IPPROTO_TCP;
	q->request.idiag_states = ~0u;
	q->request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	q->request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	query_set_address(
		is_own_end ? &us : &them, &q->request.id.idiag_sport, q->request.id.idiag_src);
	query_set_address(
		is_own_end ? &them : &us, &q->request.id.idiag_dport, q->request.id.idiag_dst);
	return 0;
}

static int answer_read(const char *buffer, size_t n, uid_t *uid)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)buffer;
	const struct inet_diag_msg *m;
	const struct nlmsgerr *error;

	if (!NLMSG_OK(head, n))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR) {
		error = NLMSG_DATA(head);
		return error->error;
	}
	if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len < NLMSG_LENGTH(sizeof *m))
		return -EPROTO;
	m = NLMSG_DATA(head);
	if (m->idiag_state != TCP_ESTABLISHED || m->idiag_inode == 0)
		return PEER_GONE;
	*uid = m->idiag_uid;
	return PEER_KNOWN;
}

static int diag_find_uid(int fd, bool is_own_end, uid_t *uid)
{
	_cleanup_close_ int netlink =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char buffer[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct query q;
	ssize_t n;
	int r;

	if (netlink < 0)
		return -errno;
	r = query_init(fd, is_own_end, &q);
	if (r)
		return r == -ENOTCONN ? PEER_GONE : r;
	if (send(netlink, &q, sizeof q, 0) < 0)
		return -errno;
	n = recv(netlink, buffer, sizeof buffer, 0);
	return n < 0 ? -errno : answer_read(buffer, (size_t)n, uid);
}

int peer_find_uid(int fd, uid_t *uid)
{
	int r = diag_find_uid(fd, false, uid);
	struct end us;
	struct end them;
	uid_t own;

	/*
	 * ENOENT: there is no such socket, or the kernel lacks the module tcp_diag. Our own end
	 * tells which, because it exists.
	 */
	if (r == -ENOENT && diag_find_uid(fd, true, &own) >= 0 &&
		socket_find_ends(fd, &us, &them) == 0)
		return end_is_loopback(&us) ? PEER_GONE : PEER_REMOTE;
	return r < 0 ? folder_find_uid("/proc/self/net", fd, uid) : r;
}

const char *peer_get_remedy(int r)
{
	return r == -ENOENT || r == -EPROTONOSUPPORT ? "; run modprobe tcp_diag, or mount /proc"
						     : "";
}

/* --- Namespaces ------------------------------------------------------------------------------- */

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

static int namespace_read_cookie(int fd, uint64_t *cookie)
{
	socklen_t n = sizeof *cookie;

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &n) ? -ENODATA : 0;
}

int peer_table_compare_space(int fd)
{
	_cleanup_close_ int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t ours;
	uint64_t theirs;

	if (own < 0 || namespace_read_cookie(own, &ours) || namespace_read_cookie(fd, &theirs))
		return -ENODATA;
	return ours == theirs;
}
