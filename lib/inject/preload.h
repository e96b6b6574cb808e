/* SPDX-License-Identifier: Apache-2.0 */
/* A server that the environment asked for, started when libproftap is loaded (LD_PRELOAD), or CUDA is initialised. */
#ifndef INJECT_PRELOAD_H
#define INJECT_PRELOAD_H

/*
 * The program now asks for a server itself: returns 1, once, when the one that runs was started by the environment
 * of this process, so that a program that knows nothing of that does not fail. Any thread.
 */
int preload_claim(void);

/*
 * Starts the server that the environment asks for, unless that was tried before in this process. Nothing that goes wrong is
 * more than a line on standard error. It does not wait to be recorded (PROFTAP_WAIT), as libproftap does when it is preloaded: the
 * caller may hold locks that a collector needs. Any thread.
 */
void preload_start(void);

#endif
