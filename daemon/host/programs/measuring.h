/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share of memory that a program has (daemon/pipeline/usage/pss.h), for who asks: of the kernel, or where that does not tell this process,
 * as the host daemon's user has no rights over others' programs, of the program's server.
 */
#ifndef DAEMON_MEASURING_H
#define DAEMON_MEASURING_H

#include <stdint.h>

struct programs;

/*
 * *bytes of the program |id|, awaited |wait_ms| at most. 0; -ESRCH: it is gone; -EACCES: the kernel tells neither; -ETIMEDOUT: its server does not
 * answer; or another negative errno. Any thread but the loop's.
 */
int measuring_ask(struct programs *p, uint64_t id, int wait_ms, uint64_t *bytes);

#endif
