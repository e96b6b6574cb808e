/* SPDX-License-Identifier: Apache-2.0 */
/* What may hang or crash is done by a child, for a while: other people's libraries and programs. */
#ifndef CLIENT_OUTSOURCED_H
#define CLIENT_OUTSOURCED_H

#include <stddef.h>

/* What other people's libraries and programs are given. */
#define OUTSOURCED_MS 5000

/*
 * Runs |work| in a child, with its standard output and error on a pipe and what it writes there in |out|, cut, without its last
 * line break. Its exit status (0 to 255), or -ETIMEDOUT (then it was killed), -ECHILD (a signal ended it), or why it could not be started. The child has
 * this process's memory as it was, so that threads must not have been started yet.
 */
int outsourced_run(
	int (*work)(const void *what), const void *what, int timeout_ms, char *out, size_t n);

#endif
