/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process has become another program by exec: then what it shared with us is not in its memory any more. */
#ifndef DAEMON_IMAGE_H
#define DAEMON_IMAGE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * 1: the process lives, and nothing of the file |fd|, which it had mapped, is in its memory. 0: it is, the process is ending
 * or gone, or that cannot be seen. One that ends in the middle of the look can make it a 1 that is wrong; never two in a
 * row. |pidfd|: -1 is none, then 0.
 */
int image_is_another(pid_t pid, int pidfd, int fd);

/* The path of the file that the process runs, printable, into |out|; "": it may not be known. */
void image_read_path(pid_t pid, char *out, size_t n);

#endif
