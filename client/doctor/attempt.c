/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts; see attempt.h. Those of perf are in attempt_perf.c. */
#include "client/doctor/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/doctor/attempt_perf.h"

static int try_memfd(pid_t pid)
{
	_cleanup_close_ int fd = memfd_create("proftap-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)pid;
	if (fd < 0 || ftruncate(fd, 4096) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return -errno;
	return 0;
}

static int try_pidfd(pid_t pid)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	(void)pid;
	return fd < 0 ? -errno : 0;
}

static int try_loopback(pid_t pid)
{
	_cleanup_close_ int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;

	(void)pid;
	if (server < 0 || client < 0 || bind(server, (struct sockaddr *)&a, n) ||
		listen(server, 1) || getsockname(server, (struct sockaddr *)&a, &n))
		return -errno;
	/* On loopback it is connected at once, or never. */
	if (connect(client, (struct sockaddr *)&a, n) && errno != EINPROGRESS)
		return -errno;
	return 0;
}

/* Of a connection that there is none of: ENOENT says that it was looked for. */
static int try_sock_diag(pid_t pid)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = {
		.head = {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
		.body = {.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
	} answer;

	(void)pid;
	if (fd < 0 || send(fd, &request, sizeof request, 0) < 0)
		return -errno;
	if (recv(fd, &answer, sizeof answer, 0) < (ssize_t)sizeof answer)
		return -EPROTO;
	if (answer.head.nlmsg_type == NLMSG_ERROR && answer.body.error == -ENOENT)
		return 0;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.body.error : -EPROTO;
}

/*
 * A grandchild whose parent has ended is no descendant of ours for Yama. It sleeps until we end, or have looked: the pipe tells it.
 */
static pid_t start_stranger(int *end)
{
	int to[2];
	int from[2];
	pid_t child;
	pid_t stranger = -1;

	if (pipe2(to, O_CLOEXEC))
		return -1;
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return -1;
	}
	child = fork();
	if (child == 0) {
		char byte;

		close(to[1]);
		stranger = fork();
		if (stranger > 0 && write(from[1], &stranger, sizeof stranger) < 0)
			_exit(1);
		if (stranger == 0)
			while (read(to[0], &byte, 1) < 0 && errno == EINTR)
				;
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	if (child < 0 || read(from[0], &stranger, sizeof stranger) != sizeof stranger)
		stranger = -1;
	close(from[0]);
	*end = to[1];
	return stranger;
}

static int try_ptrace(pid_t pid)
{
	_cleanup_close_ int end = -1;
	int r = 0;

	pid = start_stranger(&end);
	if (pid < 0)
		return -EAGAIN;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		r = -errno;
	else
		/* Detaching needs a stop; its end needs none. */
		kill(pid, SIGKILL);
	if (r == 0)
		waitpid(pid, NULL, __WALL);
	return r;
}

/* Nothing lies at address 0: EFAULT is said to those who might read. */
static int try_memory(pid_t pid)
{
	char byte;
	struct iovec to = {&byte, 1};
	struct iovec from = {NULL, 1};

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) >= 0 || errno == EFAULT)
		return 0;
	return -errno;
}

static int try_bpf(pid_t pid)
{
	/* r0 = 0; exit */
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	(void)pid;
	memset(&attr, 0, sizeof attr);
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = sizeof code / sizeof code[0];
	attr.license = (uint64_t)(uintptr_t) "GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int (*const tries[N_ATTEMPTS])(pid_t pid) = {
	[ATTEMPT_MEMFD] = try_memfd,
	[ATTEMPT_PIDFD] = try_pidfd,
	[ATTEMPT_LOOPBACK] = try_loopback,
	[ATTEMPT_SOCK_DIAG] = try_sock_diag,
	[ATTEMPT_PERF_CALL] = attempt_perf_call,
	[ATTEMPT_PERF_OWN] = attempt_perf_own,
	[ATTEMPT_PERF_KERNEL] = attempt_perf_kernel,
	[ATTEMPT_PERF_CPU] = attempt_perf_cpu,
	[ATTEMPT_PERF_PID] = attempt_perf_pid,
	[ATTEMPT_PERF_CYCLES] = attempt_perf_cycles,
	[ATTEMPT_PERF_RINGS] = attempt_perf_rings,
	[ATTEMPT_PTRACE] = try_ptrace,
	[ATTEMPT_PTRACE_PID] = try_memory,
	[ATTEMPT_BPF] = try_bpf,
};

int attempt(enum attempt what, pid_t pid)
{
	return tries[what](pid);
}
