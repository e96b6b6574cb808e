/* SPDX-License-Identifier: Apache-2.0 */
/* Finding stock profiler servers; see stock_servers.h. */
#include "base/stock_servers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/printable.h"

#define TCP_LISTEN_STATE 10 /* TCP_LISTEN of <netinet/tcp.h>, which is not included here */
#define ASKED_MAX 64 /* servers at a time; no machine has so many */

/* --- Listening sockets ----------------------------------------------------------------------- */

static bool socket_is_wildcard(const struct inet_diag_msg *m)
{
	const __be32 *a = m->id.idiag_src;

	return !a[0] && (m->idiag_family == AF_INET || (!a[1] && !a[2] && !a[3]));
}

static int sockets_add(struct stock_servers *s, const struct inet_diag_msg *m, int of_all)
{
	if (m->idiag_state != TCP_LISTEN_STATE || !m->idiag_inode || !socket_is_wildcard(m) ||
		(!of_all && geteuid() != 0 && m->idiag_uid != geteuid()))
		return 0;
	if (grow(&s->v, &s->n_allocated, s->n + 1))
		return -ENOMEM;
	s->v[s->n++] = (struct stock_server){
		.inode = m->idiag_inode,
		.port = ntohs(m->id.idiag_sport),
		.uid = m->idiag_uid,
		.is_ipv6 = m->idiag_family == AF_INET6,
	};
	return 0;
}

/* Returns 1 at the end of the dump. */
static int sockets_read_part(struct stock_servers *s, const char *buffer, size_t n, int of_all)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)(const void *)buffer;
	int r = 0;

	for (; NLMSG_OK(head, n) && !r; head = NLMSG_NEXT(head, n)) {
		if (head->nlmsg_type == NLMSG_DONE)
			return 1;
		if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
			return -EPROTO;
		r = sockets_add(s, NLMSG_DATA(head), of_all);
	}
	return r;
}

static int sockets_dump(struct stock_servers *s, int netlink, uint8_t family, int of_all)
{
	const struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 request;
	} q = {
		.head = {.nlmsg_len = sizeof q,
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = 1u << TCP_LISTEN_STATE},
	};
	char buffer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	int r = 0;

	if (send(netlink, &q, sizeof q, 0) < 0)
		return -errno;
	while (!r) {
		ssize_t n = recv(netlink, buffer, sizeof buffer, 0);

		r = n < 0 ? -errno : sockets_read_part(s, buffer, (size_t)n, of_all);
	}
	return r < 0 ? r : 0;
}

int stock_servers_list(struct stock_servers *s, int of_all)
{
	_cleanup_close_ int netlink =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int r = netlink < 0 ? -errno : sockets_dump(s, netlink, AF_INET, of_all);

	return r ? r : sockets_dump(s, netlink, AF_INET6, of_all);
}

/* --- Processes ------------------------------------------------------------------------------- */

/* A program of this make maps a file whose name contains |file|; other programs do not. */
static const struct {
	const char *file;
	const char *make;
} makes[] = {
	{"/libjax_common.so", "JAX"},
	{"/xla_extension.so", "JAX"},
	{"/_XLAC.", "PyTorch/XLA"},
	{"/libtensorflow_framework.so", "TensorFlow"},
	{"/libtensorflow_cc.so", "TensorFlow"},
	{"/_pywrap_tensorflow_internal.so", "TensorFlow"},
	{"/tensorflow_model_server", "TensorFlow"},
};

const char *stock_servers_find_make(pid_t pid)
{
	_cleanup_free_ char *line = NULL;
	const char *found = NULL;
	size_t n_allocated = 0;
	char path[48];
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && !found && getline(&line, &n_allocated, maps) > 0)
		for (size_t i = 0; i < sizeof makes / sizeof *makes && !found; i++)
			found = strstr(line, makes[i].file) ? makes[i].make : NULL;
	if (maps)
		fclose(maps);
	return found;
}

/* Computes MurmurHash64A of eight bytes, with libstdc++'s seed. */
int64_t stock_servers_find_thread_id(uint64_t handle)
{
	const uint64_t mul = UINT64_C(0xc6a4a7935bd1e995);
	uint64_t hash = UINT64_C(0xc70f6907) ^ 8 * mul;

	handle *= mul;
	hash = (hash ^ (handle ^ handle >> 47) * mul) * mul;
	hash = (hash ^ hash >> 47) * mul;
	return (int64_t)(hash ^ hash >> 47);
}

static size_t process_read_file(pid_t pid, const char *name, char *out, size_t n)
{
	char path[48];
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, out, n - 1);
	if (fd >= 0)
		close(fd);
	out[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* Returns when the process was started, in Unix time; 0 if it is not known. */
static int64_t process_read_since_ns(pid_t pid)
{
	char text[1024];
	unsigned long long ticks = 0;
	const char *p;

	process_read_file(pid, "stat", text, sizeof text);
	/*
	 * The process's name is in parentheses, and may contain parentheses. The start time is the
	 * 20th field after the name.
	 */
	p = strrchr(text, ')');
	if (!p ||
		sscanf(p + 1,
			" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			&ticks) != 1)
		return 0;
	return realtime_ns() - clock_read_ns(CLOCK_BOOTTIME) +
	       (int64_t)ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

/*
 * Notes that the process has the socket. If several have it, the oldest is the parent that made it.
 */
static void socket_set_process(struct stock_servers *s, uint64_t inode, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stock_server *one = &s->v[i];
		int64_t since_ns;

		if (one->inode != inode)
			continue;
		since_ns = process_read_since_ns(pid);
		if (one->pid && one->since_ns <= since_ns)
			return;
		one->pid = pid;
		one->since_ns = since_ns;
		return;
	}
}

static void process_find_sockets(struct stock_servers *s, pid_t pid)
{
	char path[48];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char target[64];
		ssize_t n;
		unsigned long inode;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		if (sscanf(target, "socket:[%lu]", &inode) == 1)
			socket_set_process(s, inode, pid);
	}
	if (dir)
		closedir(dir);
}

static void processes_find_sockets(struct stock_servers *s)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && pid != getpid() && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
			(geteuid() == 0 || st.st_uid == geteuid()))
			process_find_sockets(s, pid);
	}
	if (dir)
		closedir(dir);
}

/*
 * Returns true if the process is proftapd. It is not asked, because it announces itself, and its
 * Monitor would record the program.
 */
static bool process_is_proftapd(pid_t pid)
{
	char path[48];
	char target[512];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = '\0';
	slash = strrchr(target, '/');
	return slash && strncmp(slash, "/proftapd", strlen("/proftapd")) == 0;
}

/*
 * Returns true if gRPC's core works in the process, which the names of its threads show. XLA's
 * profiler service may be linked into any program, whatever its libraries are called. Asking does
 * no harm: a gRPC server without the service answers UNIMPLEMENTED.
 */
static bool process_has_grpc(pid_t pid)
{
	struct dirent *entry;
	char path[48];
	int found = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		char name[96];
		char comm[32];

		snprintf(name, sizeof name, "task/%.10s/comm", entry->d_name);
		found = isdigit((unsigned char)entry->d_name[0]) &&
			process_read_file(pid, name, comm, sizeof comm) &&
			strncmp(comm, "grpc", 4) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool process_is_stopped(pid_t pid)
{
	char text[1024];
	const char *p;

	process_read_file(pid, "stat", text, sizeof text);
	p = strrchr(text, ')');
	return p && (strncmp(p, ") T", 3) == 0 || strncmp(p, ") t", 3) == 0);
}

static void server_describe(struct stock_server *one)
{
	const char *make = stock_servers_find_make(one->pid);
	bool has_threads;

	one->is_stopped = process_is_stopped(one->pid);
	has_threads = (!make || one->is_stopped) && process_has_grpc(one->pid) &&
		      !process_is_proftapd(one->pid);
	if (!make && !has_threads) {
		one->pid = 0;
		return;
	}
	one->is_presumed = one->is_stopped && make && has_threads;
	if (one->is_presumed)
		strcpy(one->address, "127.0.0.1");
	snprintf(one->make, sizeof one->make, "%s", make ? make : "XLA");
	process_read_file(one->pid, "comm", one->name, sizeof one->name);
	one->name[strcspn(one->name, "\n")] = '\0';
	printable_clean(one->name);
}

void stock_servers_identify(struct stock_servers *s, pid_t pid)
{
	if (s->n && pid)
		process_find_sockets(s, pid);
	else if (s->n)
		processes_find_sockets(s);
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].pid)
			server_describe(&s->v[i]);
}

/* --- Asking -------------------------------------------------------------------------------- */

/*
 * The call of Monitor is written by hand, because starting gRPC and its threads would cost more
 * than all else.
 */

#define PATH "/tensorflow.ProfilerService/Monitor"
#define FRAME_HEAD_BYTES 9

static const char call[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
			   "\0\0\0\4\0\0\0\0\0" /* SETTINGS: none */
			   "\0\0\122\1\4\0\0\0\1" /* HEADERS of 82 bytes, stream 1, END_HEADERS */
			   "\203\206" /* :method POST, :scheme http */
			   "\4\43" PATH /* :path, of 35 bytes */
			   "\1\11localhost" /* :authority */
			   "\17\20\20application/grpc" /* content-type */
			   "\0\2te\10trailers"
			   "\0\0\7\0\1\0\0\0\1" /* DATA of 7 bytes, the end of stream 1 */
			   "\0\0\0\0\2\10\1"; /* a message of 2 bytes: duration_ms is 1 */
#define CALL_BYTES (sizeof call - 1)

_Static_assert(sizeof PATH - 1 == 043, "the path's length is right");
_Static_assert(CALL_BYTES == 24 + 9 + 9 + 82 + 9 + 7, "the lengths inside are right");

struct stock_question {
	struct stock_server *one;
	int fd;
	unsigned char answer[4096]; /* its first bytes; an answer of these servers is shorter */
	size_t n_bytes;
};

/* Connects on loopback, where the kernel accepts or refuses at once. */
static int asked_connect(int family, unsigned port)
{
	const struct sockaddr_in v4 = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	bool is_v6 = family == AF_INET6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, is_v6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4,
		    is_v6 ? sizeof v6 : sizeof v4) == 0 ||
		errno == EINPROGRESS)
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

/*
 * Sends the call. Tries IPv4 first, because people write IPv4 addresses; most servers accept it.
 */
static int asked_begin(struct stock_question *a)
{
	struct stock_server *one = a->one;

	a->fd = asked_connect(AF_INET, one->port);
	strcpy(one->address, "127.0.0.1");
	if (a->fd < 0 && one->is_ipv6) {
		a->fd = asked_connect(AF_INET6, one->port);
		strcpy(one->address, "::1");
	}
	if (a->fd >= 0 && send(a->fd, call, CALL_BYTES, MSG_NOSIGNAL) != (ssize_t)CALL_BYTES) {
		close(a->fd);
		a->fd = -1;
	}
	return a->fd >= 0;
}

static void asked_end(struct stock_question *a)
{
	a->one->has_answered = true;
	close(a->fd);
	a->fd = -1;
}

/* Reads one HTTP/2 frame. Returns 1 if no further frame is needed. */
static int asked_read_frame(
	struct stock_question *a, int type, int flags, const unsigned char *payload, size_t n)
{
	enum {
		DATA = 0,
		HEADERS = 1,
		RST_STREAM = 3,
		GOAWAY = 7
	};
	enum {
		END_STREAM = 1
	};

	/* Data is a reply: a later version of these servers may answer Monitor. */
	if (type == DATA && n > 0)
		a->one->is_one = true;
	if (type == HEADERS && memmem(payload, n, STOCK_SERVERS_MONITOR_TEXT,
				       sizeof STOCK_SERVERS_MONITOR_TEXT - 1))
		a->one->is_one = true;
	return a->one->is_one || type == RST_STREAM || type == GOAWAY ||
	       (type == HEADERS && flags & END_STREAM);
}

/* Returns 1 if no more of the answer is needed. */
static int asked_judge(struct stock_question *a)
{
	const unsigned char *p = a->answer;
	size_t left = a->n_bytes;

	while (left >= FRAME_HEAD_BYTES) {
		size_t n = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];

		/* The first frame is always SETTINGS. */
		if (p == a->answer && p[3] != 4)
			return 1;
		if (n > left - FRAME_HEAD_BYTES)
			break;
		if (asked_read_frame(a, p[3], p[4], p + FRAME_HEAD_BYTES, n))
			return 1;
		p += FRAME_HEAD_BYTES + n;
		left -= FRAME_HEAD_BYTES + n;
	}
	return a->n_bytes == sizeof a->answer;
}

static void asked_read_some(struct stock_question *a)
{
	ssize_t n =
		recv(a->fd, a->answer + a->n_bytes, sizeof a->answer - a->n_bytes, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	a->n_bytes += n > 0 ? (size_t)n : 0;
	if (n <= 0 || asked_judge(a))
		asked_end(a);
}

static size_t asked_read_all(struct stock_question *asked, size_t n, int64_t left_ms)
{
	struct pollfd fds[ASKED_MAX];
	size_t n_open = 0;

	for (size_t i = 0; i < n; i++) {
		fds[i] = (struct pollfd){.fd = asked[i].fd, .events = POLLIN};
		n_open += asked[i].fd >= 0;
	}
	if (!n_open || poll(fds, n, (int)left_ms) <= 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0 && fds[i].revents)
			asked_read_some(&asked[i]);
	return n_open;
}

void stock_servers_ask(struct stock_servers *s, int wait_ms)
{
	_cleanup_free_ struct stock_question *asked = calloc(ASKED_MAX, sizeof *asked);
	int64_t end_ns = monotonic_ns() + wait_ms * NS_PER_MS;
	int64_t left_ms = wait_ms;
	size_t n = 0;

	for (size_t i = 0; asked && i < s->n && n < ASKED_MAX; i++) {
		asked[n].one = &s->v[i];
		if (s->v[i].pid && !s->v[i].is_stopped && asked_begin(&asked[n]))
			n++;
	}
	while (left_ms > 0 && n && asked_read_all(asked, n, left_ms))
		left_ms = (end_ns - monotonic_ns()) / NS_PER_MS;
	for (size_t i = 0; i < n; i++)
		if (asked[i].fd >= 0)
			close(asked[i].fd);
}

/* --- Finding servers ------------------------------------------------------------------------- */

int stock_servers_find(struct stock_servers *s, pid_t pid, int wait_ms)
{
	size_t n = 0;
	int r = stock_servers_list(s, 0);

	if (r)
		return r;
	stock_servers_identify(s, pid);
	stock_servers_ask(s, wait_ms);
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].is_one || s->v[i].is_presumed)
			s->v[n++] = s->v[i];
	s->n = n;
	return 0;
}

int stock_servers_find_stopped(unsigned port, struct stock_server *out)
{
	struct stock_servers s = STOCK_SERVERS_INIT;
	int r = stock_servers_list(&s, 0);

	stock_servers_identify(&s, 0);
	r = r ? r : -ENOENT;
	for (size_t i = 0; i < s.n; i++)
		if (s.v[i].port == port && s.v[i].pid && s.v[i].is_stopped) {
			*out = s.v[i];
			r = 0;
		}
	stock_servers_deinit(&s);
	return r;
}

void stock_servers_deinit(struct stock_servers *s)
{
	free(s->v);
	*s = (struct stock_servers)STOCK_SERVERS_INIT;
}
