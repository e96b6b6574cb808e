/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets one of its own resource limits, then starts its server and records spans with the limit.
 * usage: limit as|fsize|nproc|stack VALUE
 *	as     MiB of address space beyond that in use; half of VALUE must be left for this program
 *	fsize  bytes; SIGXFSZ has its default, deadly action
 *	nproc  all processes and threads of this uid, this program included
 *	stack  bytes, soft
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/guest/guest.h"
#include "tests/guest/memory.h"

#define MAPPED_BYTES (UINT64_C(2) << 30)

static const struct {
	const char *name;
	int resource;
} limits[] = {
	{"as", RLIMIT_AS},
	{"fsize", RLIMIT_FSIZE},
	{"nproc", RLIMIT_NPROC},
	{"stack", RLIMIT_STACK},
};

static rlim_t value_of(int resource, rlim_t value)
{
	/* Maps much memory first, so that the limit is far larger than the space that is left. */
	if (resource == RLIMIT_AS)
		mmap(NULL, MAPPED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0);
	if (resource == RLIMIT_AS)
		return ((rlim_t)memory_read_kib("VmSize:") << 10) + (value << 20);
	return value;
}

static void set_limit(const char *name, rlim_t value)
{
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct rlimit r;

		if (strcmp(limits[i].name, name) != 0)
			continue;
		getrlimit((__rlimit_resource_t)limits[i].resource, &r);
		r.rlim_cur = value_of(limits[i].resource, value);
		if (setrlimit((__rlimit_resource_t)limits[i].resource, &r))
			printf("%s: setrlimit failed\n", name);
	}
}

static void *annotate(void *unused)
{
	for (int i = 0; i < 100; i++) {
		PTAP_SPAN("limited");
	}
	return unused;
}

/* Maps half of the address space that was free when the limit was set. */
static void use_address_space(rlim_t mib)
{
	size_t n = (size_t)mib << 19;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("half of the address space: %s\n", p == MAP_FAILED ? "not there" : "there");
	if (p != MAP_FAILED)
		munmap(p, n);
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[1] : "none";
	rlim_t value = argc > 2 ? (rlim_t)atoll(argv[2]) : 0;
	sigset_t pending;

	set_limit(name, value);
	GUEST_START();
	annotate(NULL);
	if (strcmp(name, "as") == 0)
		use_address_space(value);
	sigpending(&pending);
	printf("SIGXFSZ pending: %d\n", sigismember(&pending, SIGXFSZ));
	printf("children: %d\n", waitpid(-1, NULL, __WALL | WNOHANG) >= 0);
	GUEST_STOP();
	printf("done\n");
	return 0;
}
