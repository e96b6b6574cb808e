/* SPDX-License-Identifier: Apache-2.0 */
/* XProf, in the place of this program. */
#ifndef CLIENT_XPROF_H
#define CLIENT_XPROF_H

#include <stdint.h>

struct diag;

/*
 * Starts it on the log directory that |place|, a log directory, run or file, is or lies in; |port| 0: its own choice. Returns only when
 * that failed: a negative errno with |d|.
 */
int xprof_start(const char *place, uint16_t port, struct diag *d);

#endif
