/* SPDX-License-Identifier: Apache-2.0 */
/* Captures again when the target was busy, absent or idle. */
#ifndef CLIENT_RETRY_H
#define CLIENT_RETRY_H

#include <stdint.h>

struct capture;
struct diag;

/*
 * As capture_run(), up to |attempts| times with growing pauses; standard error says why each but the
 * last one failed. Between two of them, an interrupt (interrupt.h) ends it with EXIT_INTERRUPTED.
 */
int retry_capture(struct capture *capture, int64_t attempts, struct diag *d);

#endif
