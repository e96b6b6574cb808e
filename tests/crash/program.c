/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the script in a child process and steps through it with ptrace; see program.h. */
#include "tests/crash/program.h"
#include "tests/crash/stage.h"

#include <check.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REFUSED 77
/*
 * The time limit of one run of the program. All runs together have no limit, because their total
 * time depends on the machine.
 */
#define HANG_S 100

/*
 * Replaces libc's clock_gettime(), which repeats its reading of the clock until that was fast
 * enough. A program that is stepped is never fast enough, so it would loop for ever.
 */
int clock_gettime(clockid_t id, struct timespec *t)
{
	return (int)syscall(SYS_clock_gettime, id, t);
}

static void play(size_t first, const struct act *other)
{
	for (size_t i = 0; i < script_length; i++) {
		const struct act *act = other && i == first ? other : &script[i];

		if (i >= first)
			raise(SIGUSR1);
		stage->act_ticks = stage_now();
		act->run();
		atomic_store(&stage->n_done, i + 1);
	}
	raise(SIGUSR1);
	_exit(0);
}

/*
 * This function and program_step() run for each instruction, so they do not use ck_assert(): each
 * call of that writes its position to a file, which costs one more system call.
 */
static void await_stop(pid_t pid, int signal_number)
{
	size_t act = atomic_load(&stage->n_done);
	int status = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
		WSTOPSIG(status) != signal_number)
		ck_abort_msg("status %#x in act %zu (%s), not signal %d", (unsigned)status, act,
			script[act].name, signal_number);
}

static void go_on(pid_t pid)
{
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	await_stop(pid, SIGUSR1);
}

const char *program_why_not(void)
{
	const char *sanitizers = getenv("SANITIZERS");
	int status = 0;
	pid_t pid;

	if (sanitizers && strcmp(sanitizers, "no") != 0)
		return "the code of a sanitizer would be stepped, too";
	pid = fork();
	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? REFUSED : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return "the kernel refuses ptrace";
	return NULL;
}

pid_t program_start(size_t first, const struct act *other)
{
	pid_t pid;

	alarm(HANG_S);
	memset(stage, 0, sizeof *stage);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		play(first, other);
	}
	await_stop(pid, SIGUSR1);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	return pid;
}

void program_play(pid_t pid)
{
	go_on(pid);
}

bool program_step(pid_t pid, size_t act)
{
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
		ck_abort_msg("PTRACE_SINGLESTEP: %s", strerror(errno));
	await_stop(pid, SIGTRAP);
	if (atomic_load(&stage->n_done) == act)
		return true;
	go_on(pid);
	return false;
}

uint64_t program_get_pc(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec to = {&regs, sizeof regs};

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &to))
		ck_abort_msg("PTRACE_GETREGSET: %s", strerror(errno));
#if defined(__x86_64__)
	return regs.rip;
#elif defined(__aarch64__)
	return regs.pc;
#else
#error "this processor's program counter is not known"
#endif
}

void program_clear(pid_t pid, void *at, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(long))
		ck_assert_int_eq(ptrace(PTRACE_POKEDATA, pid, (char *)at + i, NULL), 0);
}

void program_write(pid_t pid, void *at, uint32_t value)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, pid, at, NULL);
	ck_assert_int_eq(errno, 0);
	memcpy(&word, &value, sizeof value);
	ck_assert_int_eq(ptrace(PTRACE_POKEDATA, pid, at, (void *)word), 0);
}

void program_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	alarm(0);
}
