/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests servers that end before they serve, also if a sandbox forbids the
 * calls that would find out.
 */
#include "lib/control/life.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <proftap/proftap.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/wire/arena.h"
#include "tests/unit/unit.h"

/* On newer architectures libc calls readlinkat() instead. */
#ifndef SYS_readlink
#define SYS_readlink SYS_readlinkat
#endif

#define SERVER_TID 4242u
/* This is shorter than the time for a server's hello. */
#define PATIENCE_NS (5 * NS_PER_S)

/* A program that is no server, and ends at once. */
#define NO_SERVER "/bin/true"

static int n_killed;

/* Replaces libc's kill(). */
int kill(pid_t pid, int number)
{
	n_killed += number != 0;
	return (int)syscall(SYS_kill, pid, number);
}

/* kill(0) would mean this process's own group. */
START_TEST(a_process_without_a_pid_here_is_not_gone)
{
	ck_assert_int_eq(process_is_gone(0), 0);
}
END_TEST

static void forbid(int nr)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static pid_t start_child(void (*live)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		live();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

static void live_long(void)
{
	pause();
}

static void live_shortly(void)
{
}

static void check_child(void)
{
	siginfo_t ended;
	pid_t pid = start_child(live_long);

	ck_assert_int_eq(process_is_gone(pid), 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(process_is_gone(pid), 1);
	pid = start_child(live_shortly);
	/* This leaves the zombie. */
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(process_is_gone(pid), 1);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(knows_zombies_from_the_living)
{
	check_child();
}
END_TEST

START_TEST(needs_not_read_memory)
{
	forbid(SYS_process_vm_readv);
	check_child();
}
END_TEST

/* This is like a chroot, or a /proc that hides other processes. */
START_TEST(needs_no_proc)
{
	forbid(SYS_readlink);
	check_child();
}
END_TEST

START_TEST(knows_by_the_robust_word_that_a_pid_is_anothers)
{
	struct arena arena;

	memset(&arena, 0, sizeof arena);
	ck_assert_int_eq(server_is_gone(&arena, getpid()), 0);
	atomic_store(&arena.owner, SERVER_TID | ARENA_WAITERS);
	ck_assert_int_eq(server_is_gone(&arena, getpid()), 0);
	atomic_store(&arena.owner, FUTEX_OWNER_DIED | ARENA_WAITERS);
	ck_assert_int_eq(server_is_gone(&arena, getpid()), 1);
}
END_TEST

static void fail_to_start(void)
{
	int64_t before = monotonic_ns();

	ck_assert_int_eq(setenv("PROFTAPD", NO_SERVER, 1), 0);
	ck_assert_int_eq(ptap_server_start(0), PTAP_ERR_SERVER);
	ck_assert_int_lt(monotonic_ns() - before, PATIENCE_NS);
}

START_TEST(an_end_is_reported_at_once_where_memory_may_not_be_read)
{
	forbid(SYS_process_vm_readv);
	fail_to_start();
}
END_TEST

START_TEST(kill_of_an_ended_server_hits_no_other_process)
{
	fail_to_start();
	ck_assert_int_eq(n_killed, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(knows_zombies_from_the_living),
	UNIT_TEST(a_process_without_a_pid_here_is_not_gone),
	UNIT_TEST(needs_not_read_memory),
	UNIT_TEST(needs_no_proc),
	UNIT_TEST(knows_by_the_robust_word_that_a_pid_is_anothers),
	UNIT_TEST(an_end_is_reported_at_once_where_memory_may_not_be_read),
	UNIT_TEST(kill_of_an_ended_server_hits_no_other_process),
	{NULL},
};

UNIT_MAIN("life", .tests = tests)
