/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels without tables of sockets; see socket_tables.h. */
#include "tests/unit/socket_tables.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define NO_PROTOCOL 255 /* No module of the kernel has this protocol's sockets. */

static bool lacks_tcp;

void socket_tables_lack_tcp(void)
{
	lacks_tcp = true;
}

/* Replaces libc's function. The kernel treats each protocol without a module alike. */
ssize_t send(int fd, const void *data, size_t n, int flags)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} query;

	if (!lacks_tcp || n != sizeof query)
		return sendto(fd, data, n, flags, NULL, 0);
	memcpy(&query, data, n);
	if (query.head.nlmsg_type == SOCK_DIAG_BY_FAMILY)
		query.body.sdiag_protocol = NO_PROTOCOL;
	return sendto(fd, &query, n, flags, NULL, 0);
}

void socket_tables_forbid_netlink(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	ck_assert_int_lt(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG), 0);
}

static struct rlimit usual;

void socket_tables_forbid_all(void)
{
	struct rlimit none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
	none = (struct rlimit){0, usual.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
}

void socket_tables_allow_all(void)
{
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
}
