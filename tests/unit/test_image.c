/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a process has become another program, by the content of its memory. */
#include "daemon/kernel/mapped.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define PATIENCE_S 10

static int memfd;
static pid_t pid;
static int pidfd;
static int word; /* the child's standard input */
static int echo; /* the child's standard output */

/* The child becomes cat(1) when it reads a byte, and then echoes the next one. */
static void be_child(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) == 1)
		execlp("cat", "cat", (char *)NULL);
	_exit(99);
}

static void set_up(void)
{
	int in[2];
	int out[2];

	memfd = memfd_create("image", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(memfd, 4096), 0);
	ck_assert_ptr_ne(mmap(NULL, 4096, PROT_READ, MAP_SHARED, memfd, 0), MAP_FAILED);
	ck_assert(pipe(in) == 0 && pipe(out) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(PATIENCE_S);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		be_child();
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	word = in[1];
	echo = out[0];
}

START_TEST(a_process_that_maps_the_memory_is_the_same_program)
{
	ck_assert_int_eq(image_is_another(pid, pidfd, memfd), 0);
	ck_assert_int_eq(image_is_another(getpid(), pidfd, memfd), 0);
}
END_TEST

START_TEST(a_process_after_exec_is_another_program)
{
	char bytes[2] = {'a', 'b'};

	ck_assert_int_eq(write(word, bytes, 2), 2);
	ck_assert_int_eq(read(echo, bytes, 1), 1);
	ck_assert_int_eq(bytes[0], 'b');
	ck_assert_int_eq(image_is_another(pid, pidfd, memfd), 1);
	ck_assert_int_eq(image_is_another(pid, -1, memfd), 0);
	ck_assert_int_eq(image_is_another(pid, pidfd, -1), 0);
}
END_TEST

/* A zombie has no memory, and an ended process has no file in /proc. */
START_TEST(a_process_that_has_ended_is_not_another_program)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(image_is_another(pid, pidfd, memfd), 0);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(image_is_another(pid, pidfd, memfd), 0);
	/* By now another process may have its pid. */
	ck_assert_int_eq(image_is_another(1, pidfd, memfd), 0);
}
END_TEST

static void tear_down(void)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(a_process_that_maps_the_memory_is_the_same_program),
	UNIT_TEST(a_process_after_exec_is_another_program),
	UNIT_TEST(a_process_that_has_ended_is_not_another_program),
	{NULL},
};

UNIT_MAIN("image", .set_up = set_up, .tear_down = tear_down, .tests = tests)
