/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions whose waits end by CLOCK_MONOTONIC, which nobody sets. */
#ifndef DAEMON_COND_H
#define DAEMON_COND_H

#include <pthread.h>

void cond_init(pthread_cond_t *cond);

#endif
