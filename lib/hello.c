/* SPDX-License-Identifier: Apache-2.0 */
/* The server's word that it serves; see hello.h. */
#include "lib/hello.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/wire/arena.h"

#define HELLO_TIMEOUT_NS (10 * NS_PER_S)
#define CLOSE_TIMEOUT_NS (2 * NS_PER_S)

/* A zombie has no memory to read from. A living process answers EFAULT or, out of reach, EPERM. */
int server_is_gone(int32_t pid)
{
	char byte;
	struct iovec to = {&byte, 1};
	struct iovec from = {NULL, 1};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && errno == ESRCH;
}

/* Its hello is the only proof that it lives: a sandbox may have killed it at exec. */
int hello_wait(struct arena *arena, int32_t pid, struct diag *d)
{
	int64_t give_up = monotonic_ns_by_call() + HELLO_TIMEOUT_NS;
	uint32_t hello;

	while ((hello = atomic_load(&arena->hello)) == ARENA_HELLO_NONE) {
		if (server_is_gone(pid))
			return diag_set(d, -ECHILD,
				"proftapd: ended before it was ready%s%.400s; is executing "
				"it forbidden here (seccomp, AppArmor)? Start the server before the sandbox",
				arena->message[0] ? ": " : "", arena->message);
		if (monotonic_ns_by_call() > give_up)
			return diag_set(d, -ETIMEDOUT, "proftapd: no answer within 10 s");
		futex_wait_until(
			&arena->hello, ARENA_HELLO_NONE, monotonic_ns_by_call() + 50 * NS_PER_MS);
	}
	if (hello == ARENA_HELLO_FAILED)
		return diag_set(d, -ECHILD, "proftapd: %.480s", arena->message);
	return 0;
}

/* The server closes its listener when it sees the control thread go. */
void hello_wait_for_close(struct arena *arena, int32_t pid)
{
	int64_t give_up = monotonic_ns_by_call() + CLOSE_TIMEOUT_NS;

	while (atomic_load(&arena->hello) == ARENA_HELLO_READY &&
		monotonic_ns_by_call() < give_up && !server_is_gone(pid))
		futex_wait_until(
			&arena->hello, ARENA_HELLO_READY, monotonic_ns_by_call() + 50 * NS_PER_MS);
}
