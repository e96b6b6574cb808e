/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulates valgrind and qemu-user, where clone() does not share memory: the program defines
 * __clone(), which the library calls, and drops the flag. The start then makes the server's
 * resources in the host, and must close them there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/guest.h"

static int n_calls;

int __clone(int (*f)(void *), void *stack, int flags, void *argument, ...);

__attribute__((visibility("default"))) int __clone(
	int (*f)(void *), void *stack, int flags, void *argument, ...)
{
	static int (*real)(int (*)(void *), void *, int, void *, ...);

	n_calls++;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "__clone");
	return real(f, stack, flags & ~CLONE_VM, argument);
}

static void print_numbers(const char *when)
{
	PTAP_SPAN("numbers");
	int a = open("/dev/null", O_RDONLY);
	int b = open("/dev/null", O_RDONLY);

	printf("%s: %d %d, children %d\n", when, a, b,
		waitpid(-1, NULL, 0) != -1 || errno != ECHILD);
	close(a);
	close(b);
}

int main(void)
{
	print_numbers("before");
	GUEST_START();
	print_numbers("with a server");
#ifndef PTAP_DISABLE
	if (ptap_server_port() && !n_calls)
		return 3;
#endif
	GUEST_STOP();
	print_numbers("stopped");
	return 0;
}
