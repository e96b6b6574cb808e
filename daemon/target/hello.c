/* SPDX-License-Identifier: Apache-2.0 */
/* What the library waits for; see hello.h. */
#include "daemon/target/hello.h"

#include <stdio.h>

#include "base/diag.h"
#include "base/futex.h"
#include "daemon/target/target.h"

void hello_fail(struct target *t, const struct diag *d)
{
	snprintf(t->arena->message, sizeof t->arena->message, "%s", d->text);
	atomic_store(&t->arena->hello_error, d->code);
	atomic_store(&t->arena->hello, ARENA_HELLO_FAILED);
	futex_wake(&t->arena->hello, 1);
}

void hello_close(struct target *t)
{
	uint32_t ready = ARENA_HELLO_READY;

	/* A failure that the library has not read yet must not look like anything else. */
	atomic_compare_exchange_strong(&t->arena->hello, &ready, ARENA_HELLO_CLOSED);
	futex_wake(&t->arena->hello, 1);
}
