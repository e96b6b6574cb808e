/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions; see cond.h. */
#include "daemon/kernel/cond.h"

#include <time.h>

void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}
