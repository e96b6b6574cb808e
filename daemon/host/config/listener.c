/* SPDX-License-Identifier: Apache-2.0 */
/* The listening sockets; see listener.h. systemd's side is sd_listen_fds(3). */
#include "daemon/host/config/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/kernel/socket_file.h"
#include "daemon/kernel/unix_peer.h"

#define BACKLOG 128
#define FIRST_FD 3 /* SD_LISTEN_FDS_START */
#define MAX_NAMES_BYTES 1024

/* --- addresses -------------------------------------------------------------------------------- */

struct listener_address {
	struct sockaddr_storage name;
	socklen_t n_bytes;
};

/* Reads the port after the last colon of |text|, and ends |text| at the colon. 0 or -EINVAL. */
static int cut_port(char *text, in_port_t *port)
{
	char *colon = strrchr(text, ':');
	char *end;
	unsigned long n;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return -EINVAL;
	n = strtoul(colon + 1, &end, 10);
	if (*end || n > 65535)
		return -EINVAL;
	*colon = '\0';
	*port = htons((in_port_t)n);
	return 0;
}

static int parse_v6(const char *text, struct listener_address *out)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out->name;
	char inside[INET6_ADDRSTRLEN];
	size_t n = strlen(text);

	if (n < 3 || n - 2 >= sizeof inside || text[n - 1] != ']')
		return -EINVAL;
	snprintf(inside, sizeof inside, "%.*s", (int)n - 2, text + 1);
	v6->sin6_family = AF_INET6;
	out->n_bytes = sizeof *v6;
	if (inet_pton(AF_INET6, inside, &v6->sin6_addr) != 1)
		return -EINVAL;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ? 0 : -EACCES;
}

static int parse_v4(const char *text, struct listener_address *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&out->name;

	v4->sin_family = AF_INET;
	out->n_bytes = sizeof *v4;
	if (inet_pton(AF_INET, text, &v4->sin_addr) != 1)
		return -EINVAL;
	return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? 0 : -EACCES;
}

static int parse_path(const char *path, struct listener_address *out)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&out->name;

	if (path[0] != '/' || strlen(path) >= sizeof un->sun_path)
		return -EINVAL;
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	out->n_bytes = sizeof *un;
	return 0;
}

static int parse_address(const char *text, struct listener_address *out)
{
	char copy[128];
	in_port_t port;
	int r;

	memset(out, 0, sizeof *out);
	if (strncmp(text, "unix:", 5) == 0)
		return parse_path(text + 5, out);
	if (strlen(text) >= sizeof copy)
		return -EINVAL;
	strcpy(copy, text);
	r = cut_port(copy, &port);
	if (r)
		return r;
	/* The port has the same place in both families of addresses. */
	((struct sockaddr_in *)&out->name)->sin_port = port;
	return copy[0] == '[' ? parse_v6(copy, out) : parse_v4(copy, out);
}

int listener_check_address(const char *text)
{
	struct listener_address address;

	return parse_address(text, &address) ? -EINVAL : 0;
}

void listener_describe(int fd, char *out, size_t n)
{
	struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&name;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&name;
	const struct sockaddr_un *un = (const struct sockaddr_un *)&name;
	socklen_t n_name = sizeof name;
	char host[INET6_ADDRSTRLEN] = "";

	getsockname(fd, (struct sockaddr *)&name, &n_name);
	if (name.ss_family == AF_UNIX) {
		snprintf(out, n, "unix:%s", un->sun_path);
	} else if (name.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
		snprintf(out, n, "[%s]:%u", host, ntohs(v6->sin6_port));
	} else {
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
		snprintf(out, n, "%s:%u", host, ntohs(v4->sin_port));
	}
}

/* --- sockets from systemd --------------------------------------------------------------------- */

/*
 * Copies the names, one for each descriptor from FIRST_FD on; "" if nothing was handed over to this
 * process.
 */
static void copy_names(char *out, size_t n)
{
	const char *pid = getenv("LISTEN_PID");
	const char *names = getenv("LISTEN_FDNAMES");
	bool is_ours = pid && names && strtol(pid, NULL, 10) == getpid();

	snprintf(out, n, "%s", is_ours ? names : "");
}

int listener_take(const char *name)
{
	static unsigned taken; /* a bit for each descriptor that was taken */
	char names[MAX_NAMES_BYTES];
	char *rest = names;
	char *word;
	unsigned i = 0;

	copy_names(names, sizeof names);
	for (; (word = strsep(&rest, ":")) && i < 8 * sizeof taken; i++) {
		int fd = FIRST_FD + (int)i;

		if (strcmp(word, name) != 0 || taken & 1u << i || fcntl(fd, F_SETFD, FD_CLOEXEC))
			continue;
		taken |= 1u << i;
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		return fd;
	}
	return -1;
}

/* --- sockets of our own ----------------------------------------------------------------------- */

/* Removes the socket of a dead server. -EADDRINUSE if a server listens there. */
static int remove_dead_socket(const char *path, int (*reach)(const char *))
{
	char address[128];
	int fd;

	snprintf(address, sizeof address, "unix:%s", path);
	fd = reach(address);
	if (fd == -ECONNREFUSED)
		unlink(path);
	if (fd >= 0)
		close(fd);
	/* A server with a full queue lives, too. */
	return fd >= 0 || fd == -EAGAIN ? -EADDRINUSE : 0;
}

static int bind_and_listen(int fd, const struct listener_address *a, mode_t mask)
{
	mode_t old = umask(mask);
	int r = bind(fd, (const struct sockaddr *)&a->name, a->n_bytes);

	umask(old);
	return r || listen(fd, BACKLOG) ? -errno : 0;
}

static int open_at(const struct listener_address *a, int type, mode_t mask)
{
	int fd = socket(a->name.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;
	int r;

	if (fd < 0)
		return -errno;
	if (a->name.ss_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	r = bind_and_listen(fd, a, mask);
	if (!r)
		return fd;
	close(fd);
	return r;
}

static int explain_failure(const char *what, int r, struct diag *d)
{
	if (r == -EADDRINUSE)
		return diag_set(d, r,
			"%.200s: in use: is there a host daemon already? see proftap list, or set "
			"another address",
			what);
	return diag_set(d, r, "%.200s: cannot listen: %s", what, errno_words(r));
}

int listener_open(const char *text, struct socket_file *file, struct diag *d)
{
	struct listener_address a;
	bool is_path = strncmp(text, "unix:", 5) == 0;
	int r = parse_address(text, &a);

	if (!r && is_path)
		r = remove_dead_socket(text + 5, unix_peer_connect);
	/* With this umask everybody may connect, because the user of each connection is checked. */
	if (!r)
		r = open_at(&a, SOCK_STREAM, 0111);
	if (r < 0)
		return explain_failure(text, r, d);
	if (is_path)
		socket_file_find(file, r);
	return r;
}

int listener_open_messages(const char *path, struct socket_file *file, struct diag *d)
{
	struct listener_address a;
	int r;

	memset(&a, 0, sizeof a);
	r = parse_path(path, &a);
	if (!r)
		r = remove_dead_socket(path, unix_peer_connect_messages);
	if (!r)
		r = open_at(&a, SOCK_SEQPACKET, 0111);
	if (r < 0)
		return explain_failure(path, r, d);
	socket_file_find(file, r);
	return r;
}
