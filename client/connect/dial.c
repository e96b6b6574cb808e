/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to a target; see dial.h. */
#include "client/connect/dial.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/local_name.h"
#include "base/log.h"
#include "client/process/clock.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"
#include "client/target/dial_unix.h"

/*
 * The value of TCP_ESTABLISHED. <netinet/tcp.h> defines that name, but cannot be included together
 * with <linux/tcp.h>, which has the struct tcp_info that we need.
 */
#define STATE_ESTABLISHED 1
/*
 * A waiting thread checks for interrupts at this interval, because an interrupt is certain to wake
 * only one of several threads.
 */
#define TURN_MS 100

struct dial_attempt {
	struct address *address;
	int64_t deadline_ms; /* CLOCK_MONOTONIC */
	int error; /* a negative errno: the most useful one so far */
	int n_tried;
};

/* Waits until |fd| is connected. 0 or a negative errno. */
static int wait_connected(int fd, int64_t deadline_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int n_before = interrupt_get_count();
	socklen_t n = sizeof(int);
	int error = 0;

	for (;;) {
		int64_t left_ms = deadline_ms - clock_monotonic_ms();
		int r = interrupt_poll(&p, left_ms < TURN_MS ? left_ms : TURN_MS);

		if (r > 0)
			break;
		if (interrupt_get_count() > n_before)
			return -EINTR;
		if (r < 0 && (r != -EINTR || interrupt_get_count() > 0))
			return r;
		if (r == 0 && left_ms <= TURN_MS)
			return -ETIMEDOUT;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) < 0)
		return -errno;
	return -error;
}

/*
 * Returns true if the socket is connected to itself: if the target's port is local and free, the
 * kernel may have chosen it as our own port.
 */
static bool is_self_connected(int fd)
{
	struct sockaddr_storage own = {0};
	struct sockaddr_storage peer = {0};
	socklen_t n_own = sizeof own;
	socklen_t n_peer = sizeof peer;

	return getsockname(fd, (struct sockaddr *)&own, &n_own) == 0 &&
	       getpeername(fd, (struct sockaddr *)&peer, &n_peer) == 0 && n_own == n_peer &&
	       memcmp(&own, &peer, n_own) == 0;
}

static int connect_one(const struct addrinfo *info, int64_t deadline_ms)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, info->ai_addr, info->ai_addrlen) < 0)
		r = errno == EINPROGRESS || errno == EINTR ? wait_connected(fd, deadline_ms)
							   : -errno;
	if (r == 0 && is_self_connected(fd))
		r = -ECONNREFUSED;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

/*
 * Replaces "localhost" by the address. NAME.localhost stays, because a host daemon needs the NAME.
 */
static void make_exact(struct address *a, const struct addrinfo *info)
{
	if (strcmp(a->host, "localhost") != 0)
		return;
	snprintf(a->host, sizeof a->host, "%s", info->ai_family == AF_INET6 ? "::1" : "127.0.0.1");
	address_format(a);
}

/*
 * Keeps a refusal or a timeout as the error, because the second address family often fails only for
 * lack of a route, which is less useful to know.
 */
static void note_error(struct dial_attempt *t, int error)
{
	if (t->n_tried == 0 || (t->error != -ECONNREFUSED && t->error != -ETIMEDOUT))
		t->error = error;
	t->n_tried++;
}

/* Tries the addresses of one family (AF_UNSPEC: all). Returns a socket or a negative errno. */
static int try_list(struct dial_attempt *t, const struct addrinfo *list, int family)
{
	for (const struct addrinfo *i = list; i; i = i->ai_next) {
		int fd;

		if (family != AF_UNSPEC && i->ai_family != family)
			continue;
		fd = connect_one(i, t->deadline_ms);
		if (fd >= 0) {
			make_exact(t->address, i);
			return fd;
		}
		log_debug(LOG_CLIENT, "%s: %s", t->address->text, errno_words(fd));
		note_error(t, fd);
		if (fd == -EINTR)
			return fd;
	}
	return t->error;
}

static int explain_refusal(const struct address *a, int error, struct diag *d)
{
	if (a->port == ADDRESS_HOST_PORT)
		return diag_set(d, error,
			"%s: connection refused: no profiler server there; this is the host "
			"daemon's port, start it with proftapd --host",
			a->text);
	return diag_set(d, error,
		"%s: connection refused: no profiler server there; start one with "
		"ptap_server_start(%u) or proftap run -p %u -- PROGRAM",
		a->text, a->port, a->port);
}

static int explain_dial(struct address *a, int error, int64_t timeout_ms, struct diag *d)
{
	switch (error) {
	case -ECONNREFUSED:
		return explain_refusal(a, error, d);
	case -ETIMEDOUT:
		return diag_set(d, error,
			"%s: no answer within %lld s: the host is down or a firewall drops the "
			"connection; check the address",
			a->text, (long long)((timeout_ms + 999) / 1000));
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EADDRNOTAVAIL:
		return diag_set(d, error,
			"%s: no route to the host: check the address and the network", a->text);
	case -EINTR:
		return diag_set(d, error, "%s: interrupted while connecting", a->text);
	default:
		return diag_set(d, error, "%s: cannot connect: %s", a->text, errno_words(error));
	}
}

static int resolve_host(const struct address *a, struct addrinfo **out, struct diag *d)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[8];
	int r;

	snprintf(port, sizeof port, "%u", a->port);
	/*
	 * With NULL, getaddrinfo() finds the loopback addresses without /etc/hosts, which minimal
	 * containers do not have.
	 */
	r = getaddrinfo(local_name_is(a->host) ? NULL : a->host, port, &hints, out);
	if (r == 0)
		return 0;
	if (r == EAI_NONAME || r == EAI_NODATA || r == EAI_ADDRFAMILY)
		return diag_set(d, -ENXIO, "%s: name not known: check the spelling of \"%s\"",
			a->text, a->host);
	if (r == EAI_AGAIN)
		return diag_set(d, -ENXIO,
			"%s: name not known: no name server answers; use an address instead",
			a->text);
	return diag_set(d, -ENXIO, "%s: name not known: %s", a->text, gai_strerror(r));
}

static int dial_tcp(struct address *address, int64_t timeout_ms, struct diag *d)
{
	bool is_localhost = local_name_is(address->host);
	struct dial_attempt t = {.address = address, .error = -ENXIO};
	struct addrinfo *list = NULL;
	int fd = resolve_host(address, &list, d);

	if (fd < 0)
		return fd;
	t.deadline_ms = clock_monotonic_ms() + timeout_ms;
	/* Profiler servers listen on 127.0.0.1 by default, so it is tried first. */
	if (is_localhost) {
		fd = try_list(&t, list, AF_INET);
		if (fd < 0 && fd != -EINTR)
			fd = try_list(&t, list, AF_INET6);
		if (fd < 0)
			make_exact(address, &(struct addrinfo){.ai_family = AF_INET});
	} else {
		fd = try_list(&t, list, AF_UNSPEC);
	}
	freeaddrinfo(list);
	return fd < 0 ? explain_dial(address, fd, timeout_ms, d) : fd;
}

int dial(struct address *address, int64_t timeout_ms, struct diag *d)
{
	if (address->path[0])
		return dial_unix(address, d);
	return dial_tcp(address, timeout_ms, d);
}

static socklen_t get_tcp_info(int fd, struct tcp_info *info)
{
	socklen_t n = sizeof *info;

	memset(info, 0, sizeof *info);
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &n) < 0 ? 0 : n;
}

int64_t dial_get_received_bytes(int fd)
{
	struct tcp_info info;

	/* A kernel that is older than the header does not fill this member. */
	if (get_tcp_info(fd, &info) <= offsetof(struct tcp_info, tcpi_bytes_received))
		return -1;
	return (int64_t)info.tcpi_bytes_received;
}

bool dial_is_connected(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};
	struct tcp_info info;

	if (get_tcp_info(fd, &info) > 0)
		return info.tcpi_state == STATE_ESTABLISHED;
	/* Otherwise |fd| is a unix socket. */
	return poll(&p, 1, 0) >= 0 && !(p.revents & (POLLHUP | POLLRDHUP | POLLERR));
}
