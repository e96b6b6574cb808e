/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server process, for the calls of this library that need one. Start and stop run under the
 * guest's lock.
 */
#ifndef LIB_SERVER_H
#define LIB_SERVER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/diag.h"

struct diag;

/* Returns true if the environment has switched proftap off. */
bool server_is_disabled(void);

/*
 * Starts a server without a listener, for this program's own traces. 0 or a negative errno with
 * |d|.
 */
int server_start_private(struct diag *d);
void server_stop(void);

/* Maps a negative errno to the one of <proftap/error.h> that the public calls return for it. */
int server_to_public(int r);

/*
 * A cancelled thread must not end in the middle of a call of this library, with the lock held and
 * signals blocked: wait4(), open() and usleep() are cancellation points. It ends at its own next
 * cancellation point instead.
 */

/* Returns the state before, for _uncancelled_ to restore at the end of the scope. */
static inline int cancel_disable(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void cancel_restore(const int *before)
{
	pthread_setcancelstate(*before, NULL);
}

#define _uncancelled_ __attribute__((cleanup(cancel_restore), unused))

/* The message that ptap_last_error() returns. */

/* Keeps |d|'s text for the calling thread and returns |d|'s code. */
int last_error_set(const struct diag *d);

#endif
