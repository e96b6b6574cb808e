/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines itself before or after its server starts, and prints its ids and its view of the system.
 * usage: confined before|after nothing|subreaper|no_new_privs|chroot|uid|unshare [stay]
 * With "stay" it runs until its directory has a file "end".
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/guest.h"

#define NOBODY 65534

static int do_nothing(void)
{
	return 0;
}

static int be_subreaper(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static int set_no_new_privs(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* The root is then the host's own directory, which is empty. */
static int enter_chroot(void)
{
	return chroot(".") || chdir("/");
}

static int drop_uid(void)
{
	return setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY);
}

static int unshare_pids(void)
{
	return unshare(CLONE_NEWPID);
}

static const struct {
	const char *name;
	int (*confine)(void);
} kinds[] = {
	{"nothing", do_nothing},
	{"subreaper", be_subreaper},
	{"no_new_privs", set_no_new_privs},
	{"chroot", enter_chroot},
	{"uid", drop_uid},
	{"unshare", unshare_pids},
};

static int confine(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].confine();
	return -1;
}

static void print_view(void)
{
	PTAP_SPAN("view");
	int subreaper = 0;
	DIR *d = opendir("/");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
	printf("uid %d %d gid %d %d root %d subreaper %d no_new_privs %d pid 1: %d\n",
		(int)getuid(), (int)geteuid(), (int)getgid(), (int)getegid(), n, subreaper,
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), getpid() == 1);
	/*
	 * Flushes before any fork: under ThreadSanitizer _exit() in each child would write buffered
	 * output again.
	 */
	fflush(stdout);
}

/* Makes a grandchild whose parent exits: a subreaper or PID 1 gets it from wait(). */
static void make_orphan(void)
{
	int n = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0) {
			usleep(10000);
			_exit(5);
		}
		_exit(4);
	}
	while (wait(&status) > 0)
		printf("reaped %d: %#x\n", ++n, (unsigned)status);
	fflush(stdout);
}

static void stay(void)
{
	for (int i = 0; i < 20000 && access("end", F_OK); i++) {
		PTAP_SPAN("stay");
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	bool is_before = argc > 2 && strcmp(argv[1], "before") == 0;

	if (argc < 3)
		return 2;
	if (!is_before)
		GUEST_START();
	if (confine(argv[2])) {
		perror(argv[2]);
		return 2;
	}
	if (is_before)
		GUEST_START();
	print_view();
	make_orphan();
	if (argc > 3)
		stay();
	return 0;
}
