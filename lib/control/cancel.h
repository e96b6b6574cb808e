/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cancelled thread must not end in the middle of a call of this library, with the lock held and
 * signals blocked: wait4(), open() and usleep() are cancellation points. It ends at its own next
 * cancellation point instead.
 */
#ifndef LIB_CANCEL_H
#define LIB_CANCEL_H

#include <pthread.h>

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

#endif
