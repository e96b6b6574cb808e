/* SPDX-License-Identifier: Apache-2.0 */
/* The server's word that it serves; see hello.h. */
#include "lib/control/hello.h"

#include <errno.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/futex.h"
#include "lib/control/life.h"
#include "lib/wire/arena.h"

#define HELLO_TIMEOUT_NS (10 * NS_PER_S)
#define CLOSE_TIMEOUT_NS (2 * NS_PER_S)
/* Most servers answer within this time, and then nobody asks whether they live. */
#define LOOK_INTERVAL_NS (50 * NS_PER_MS)

/* What the word is when it is no longer |hello|, or after the interval. */
static uint32_t wait_while(struct arena *arena, uint32_t hello)
{
	futex_wait_until(&arena->hello, hello, monotonic_ns_by_call() + LOOK_INTERVAL_NS);
	return atomic_load(&arena->hello);
}

/* What is wrong may be what it was asked for. */
static int fail_refused(const struct arena *arena, struct diag *d)
{
	if (atomic_load(&arena->hello_error) == -EINVAL)
		return diag_set(d, -EINVAL, "%.500s", arena->message);
	return diag_set(d, -ECHILD, "proftapd: %.480s", arena->message);
}

/* Its hello is the only proof that it lives: a sandbox may have killed it at exec. */
int hello_wait(struct arena *arena, int32_t pid, struct diag *d)
{
	int64_t give_up = monotonic_ns_by_call() + HELLO_TIMEOUT_NS;
	uint32_t hello;

	while ((hello = wait_while(arena, ARENA_HELLO_NONE)) == ARENA_HELLO_NONE) {
		if (server_is_gone(arena, pid)) {
			diag_set(d, -ECHILD, "%.500s", arena->message);
			return HELLO_NEVER;
		}
		if (monotonic_ns_by_call() > give_up)
			return diag_set(d, -ETIMEDOUT, "proftapd: no answer within 10 s");
	}
	return hello == ARENA_HELLO_FAILED ? fail_refused(arena, d) : 0;
}

/* The server closes its listener when it sees the control thread go. */
void hello_wait_for_close(struct arena *arena, int32_t pid)
{
	int64_t give_up = monotonic_ns_by_call() + CLOSE_TIMEOUT_NS;

	while (wait_while(arena, ARENA_HELLO_READY) == ARENA_HELLO_READY &&
		monotonic_ns_by_call() < give_up && !server_is_gone(arena, pid))
		;
}
