/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts; see attempt.h. */
#include "client/doctor/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/process/clock.h"
#include "client/process/terminal.h"

/* --- perf events --------------------------------------------------------------------------- */

/* Each event is opened disabled and closed after the attempt. */

#define RING_BYTES (1u << 20)
/*
 * The number of rings to try. The limit grows with the number of processors, so more rings would
 * show nothing else.
 */
#define MAX_RINGS 64

struct perf_wish {
	unsigned type;
	unsigned long long config;
	bool with_kernel;
	pid_t pid; /* 0: this thread; -1: everything on |cpu| */
	int cpu; /* -1: any processor */
};

/* Returns a descriptor or a negative errno. */
static int open_event(struct perf_wish wish)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = wish.type;
	attr.config = wish.config;
	attr.freq = 1;
	attr.sample_freq = 99;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr.disabled = 1;
	attr.exclude_kernel = !wish.with_kernel;
	attr.exclude_hv = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, wish.pid, wish.cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int try_event(struct perf_wish wish)
{
	int fd = open_event(wish);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/*
 * The kernel reads the attributes first: EFAULT for NULL means that the call itself is permitted.
 */
static int attempt_perf_call(pid_t pid)
{
	(void)pid;
	if (syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) >= 0 || errno == EFAULT)
		return 0;
	return -errno;
}

static int attempt_perf_own(pid_t pid)
{
	(void)pid;
	return try_event(
		(struct perf_wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, -1});
}

static int attempt_perf_kernel(pid_t pid)
{
	(void)pid;
	return try_event(
		(struct perf_wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, 0, -1});
}

static int attempt_perf_cpu(pid_t pid)
{
	(void)pid;
	return try_event(
		(struct perf_wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, -1, 0});
}

static int attempt_perf_pid(pid_t pid)
{
	return try_event(
		(struct perf_wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, pid, -1});
}

static int attempt_perf_cycles(pid_t pid)
{
	(void)pid;
	return try_event(
		(struct perf_wish){PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, 0, -1});
}

struct perf_ring {
	int fd;
	void *memory;
};

static int open_ring(struct perf_ring *ring, int cpu)
{
	size_t n = RING_BYTES + (size_t)sysconf(_SC_PAGESIZE);

	ring->memory = MAP_FAILED;
	ring->fd = open_event(
		(struct perf_wish){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, cpu});
	if (ring->fd < 0)
		return ring->fd;
	ring->memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	return ring->memory == MAP_FAILED ? -errno : 0;
}

static void close_ring(struct perf_ring *ring)
{
	if (ring->memory != MAP_FAILED)
		munmap(ring->memory, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE));
	if (ring->fd >= 0)
		close(ring->fd);
}

/* All rings are open at once, because the limit is for all rings of the user together. */
static int attempt_perf_rings(pid_t pid)
{
	struct perf_ring rings[MAX_RINGS];
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	int n = 0;
	int r = 0;

	(void)pid;
	while (n < n_cpus && n < MAX_RINGS && r == 0) {
		r = open_ring(&rings[n], n);
		n++;
		if (r == -ENODEV) /* the processor is switched off */
			r = 0;
	}
	while (n > 0)
		close_ring(&rings[--n]);
	return r;
}

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
	/* On loopback a connection succeeds or fails at once. */
	if (connect(client, (struct sockaddr *)&a, n) && errno != EINPROGRESS)
		return -errno;
	return 0;
}

/*
 * Asks about a listening socket of this process. ENOENT means that the kernel has no module for
 * TCP sockets.
 */
static int try_sock_diag(pid_t pid)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 body;
	} request = {
		.head = {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
		.body = {.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
	};
	union {
		struct nlmsghdr head;
		struct {
			struct nlmsghdr head;
			struct nlmsgerr body;
		} error;
		char bytes[4096];
	} answer;

	(void)pid;
	if (fd < 0 || listener < 0 || bind(listener, (struct sockaddr *)&a, n) ||
		listen(listener, 1) || getsockname(listener, (struct sockaddr *)&a, &n))
		return -errno;
	request.body.id.idiag_sport = a.sin_port;
	request.body.id.idiag_src[0] = a.sin_addr.s_addr;
	if (send(fd, &request, sizeof request, 0) < 0)
		return -errno;
	if (recv(fd, &answer, sizeof answer, 0) < (ssize_t)sizeof answer.error)
		return -EPROTO;
	if (answer.head.nlmsg_type == NLMSG_ERROR)
		return answer.error.body.error;
	return answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY ? 0 : -EPROTO;
}

/*
 * Starts a grandchild whose parent ends, so Yama does not take it for our descendant. It sleeps
 * until the pipe's end *end is closed.
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
		/* Detaching would need the process to stop; killing it does not. */
		kill(pid, SIGKILL);
	if (r == 0)
		waitpid(pid, NULL, __WALL);
	return r;
}

/* Nothing is mapped at address 0: EFAULT means that reading is permitted. */
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

/* --- work in a child process ------------------------------------------------------------------ */

static _Noreturn void do_work(int (*work)(const void *what), const void *what, int out)
{
	int code;
	int null = open("/dev/null", O_RDONLY);

	/*
	 * The child gets its own process group: processes that it starts are killed with it, and
	 * Ctrl-C does not reach it.
	 */
	setpgid(0, 0);
	streams_give_back();
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	code = work(what);
	fflush(stdout);
	_exit(code);
}

/* Reads until the end of the output. False: the time is over. */
static bool read_all(int fd, int timeout_ms, char *out, size_t n)
{
	int64_t end_ms = clock_monotonic_ms() + timeout_ms;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	size_t used = 0;
	ssize_t r = 1;

	while (r) {
		char rest[256];
		int64_t left_ms = end_ms - clock_monotonic_ms();
		bool is_full = used == n - 1;

		if (left_ms <= 0)
			break;
		if (poll(&poll_fd, 1, (int)left_ms) <= 0)
			continue;
		r = is_full ? read(fd, rest, sizeof rest) : read(fd, out + used, n - 1 - used);
		if (r > 0 && !is_full)
			used += (size_t)r;
	}
	out[used] = '\0';
	if (used && out[used - 1] == '\n')
		out[used - 1] = '\0';
	return r <= 0;
}

static int reap_child(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

int child_work_run(
	int (*work)(const void *what), const void *what, int timeout_ms, char *out, size_t n)
{
	int ends[2];
	bool is_over;
	pid_t child;
	int r;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	child = fork();
	if (child == 0)
		do_work(work, what, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	setpgid(child, child);
	is_over = read_all(ends[0], timeout_ms, out, n);
	close(ends[0]);
	if (!is_over)
		kill(-child, SIGKILL);
	r = reap_child(child);
	return is_over ? r : -ETIMEDOUT;
}

/* The exit status of a shell that does not find a program. */
#define EXIT_NO_PROGRAM 127

static int execute_program(const void *what)
{
	const char *const *argv = what;

	execvp(argv[0], (char *const *)argv);
	return EXIT_NO_PROGRAM;
}

int child_work_run_program(const char *const *argv, char *out, size_t n)
{
	int r = child_work_run(execute_program, argv, CHILD_WORK_MS, out, n);

	return r == EXIT_NO_PROGRAM ? -ENOENT : r;
}
