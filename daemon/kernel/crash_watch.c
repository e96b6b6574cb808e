/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes of threads; see crash_watch.h, and linux/cn_proc.h. */
#include "daemon/kernel/crash_watch.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Headers before Linux 6.6 have other names for these; the numbers are the kernel's ABI. */
#define EVENT_COREDUMP UINT32_C(0x40000000)
#define LISTEN UINT32_C(1)
/*
 * The kernel's flag of a thread that dumps core; it is set even if no file is written
 * (linux/sched.h).
 */
#define PF_DUMPCORE 0x200u

/* struct cn_msg without its last member: an array without a length, which must end a struct. */
struct crash_message {
	struct cb_id id;
	uint32_t seq;
	uint32_t ack;
	uint16_t len;
	uint16_t flags;
};
_Static_assert(sizeof(struct crash_message) == sizeof(struct cn_msg), "the connector's header");

/*
 * The request in the form that Linux 6.6 and later read; older kernels ignore it because of its
 * length.
 */
struct crash_request {
	struct nlmsghdr head;
	struct crash_message message;
	uint32_t operation;
	uint32_t events;
} __attribute__((packed));

/* The beginning of a core dump event; more fields follow. */
struct crash {
	struct nlmsghdr head;
	struct crash_message message;
	uint32_t what;
	uint32_t processor;
	uint64_t timestamp_ns;
	int32_t tid;
	int32_t pid;
} __attribute__((packed));

static int crash_watch_subscribe(int fd)
{
	const struct crash_request wish = {
		.head = {.nlmsg_len = sizeof wish, .nlmsg_type = NLMSG_DONE},
		.message = {.id = {CN_IDX_PROC, CN_VAL_PROC},
			.len = sizeof wish.operation + sizeof wish.events},
		.operation = LISTEN,
		.events = EVENT_COREDUMP,
	};
	const struct sockaddr_nl group = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};

	return bind(fd, (const struct sockaddr *)&group, sizeof group) ||
			       send(fd, &wish, sizeof wish, 0) != (ssize_t)sizeof wish
		       ? -1
		       : 0;
}

int crash_watch_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	if (fd >= 0 && crash_watch_subscribe(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

void crash_watch_read(int fd, struct crashes *crashes)
{
	union {
		struct crash crash;
		char bytes[512];
	} u;
	struct sockaddr_nl from;
	socklen_t from_bytes = sizeof from;
	ssize_t n;

	while ((n = recvfrom(fd, &u, sizeof u, 0, (struct sockaddr *)&from, &from_bytes)) >= 0 ||
		errno == ENOBUFS) {
		/* Any process may send to a netlink socket; the kernel's port is 0. */
		if (n >= (ssize_t)sizeof u.crash && from.nl_pid == 0 &&
			u.crash.what == EVENT_COREDUMP) {
			unsigned at = crashes->n++ % CRASHES_MAX;

			crashes->v[at].pid = u.crash.pid;
			crashes->v[at].tid = u.crash.tid;
		}
		from_bytes = sizeof from;
	}
}

pid_t crashes_find(const struct crashes *crashes, pid_t pid)
{
	unsigned n = crashes->n < CRASHES_MAX ? crashes->n : CRASHES_MAX;

	/* Search the newest first, since pids are reused. */
	for (unsigned i = 1; i <= n; i++)
		if (crashes->v[(crashes->n - i) % CRASHES_MAX].pid == pid)
			return crashes->v[(crashes->n - i) % CRASHES_MAX].tid;
	return 0;
}

int crash_watch_find_main(const char *stat)
{
	const char *end = strrchr(stat, ')');
	unsigned flags;

	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return -1;
	return (flags & PF_DUMPCORE) != 0;
}
