/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer's uid by NETLINK_SOCK_DIAG; see peer.h. The uid is that of the socket's maker. A socket whose
 * owner has closed it is still found, and older kernels then say uid 0: only an entry in ESTABLISHED with
 * an inode counts.
 */
#include "daemon/kernel/peer.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

struct query {
	struct nlmsghdr head;
	struct inet_diag_req_v2 request;
};

/* A v4-mapped address is looked up as IPv6, the family of our socket: the kernel finds it by itself. */
static void set_address(const struct sockaddr_storage *a, __be16 *port, __be32 address[4])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

	*port = v4->sin_port;
	if (a->ss_family == AF_INET)
		address[0] = v4->sin_addr.s_addr;
	else
		memcpy(address, &v6->sin6_addr, sizeof v6->sin6_addr);
}

static int make_query(int fd, struct query *q)
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
	/* The other end of the connection: from them to us. */
	set_address(&them, &q->request.id.idiag_sport, q->request.id.idiag_src);
	set_address(&us, &q->request.id.idiag_dport, q->request.id.idiag_dst);
	return 0;
}

/* On loopback there is another end on this machine, or there was one. */
static int is_loopback(const struct query *q)
{
	const struct in6_addr *us = (const struct in6_addr *)q->request.id.idiag_dst;
	const uint8_t *v4 = (const uint8_t *)us;

	if (q->request.sdiag_family == AF_INET)
		return v4[0] == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(us) ||
	       (IN6_IS_ADDR_V4MAPPED(us) && us->s6_addr[12] == IN_LOOPBACKNET);
}

static int read_answer(const struct query *q, const char *buffer, size_t n, uid_t *uid)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)buffer;
	const struct inet_diag_msg *m;
	const struct nlmsgerr *error;

	if (!NLMSG_OK(head, n))
		return -EPROTO;
	if (head->nlmsg_type == NLMSG_ERROR) {
		error = NLMSG_DATA(head);
		if (error->error == -ENOENT)
			return is_loopback(q) ? PEER_GONE : PEER_REMOTE;
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

int peer_find_uid(int fd, uid_t *uid)
{
	_cleanup_close_ int netlink =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char buffer[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct query q;
	ssize_t n;
	int r;

	if (netlink < 0)
		return -errno;
	r = make_query(fd, &q);
	if (r)
		return r == -ENOTCONN ? PEER_GONE : r;
	if (send(netlink, &q, sizeof q, 0) < 0)
		return -errno;
	n = recv(netlink, buffer, sizeof buffer, 0);
	return n < 0 ? -errno : read_answer(&q, buffer, (size_t)n, uid);
}
