/* SPDX-License-Identifier: Apache-2.0 */
/* How a process that is not our child ended. */
#ifndef DAEMON_ENDING_H
#define DAEMON_ENDING_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Its status as wait(2) gives it, which the kernel tells while it ends and until its parent has asked; with |pidfd|
 * (-1: none) also after that, since Linux 6.15. -ENODATA when nobody knows: it exited with 0, runs, or was asked for
 * already.
 */
int ending_find(pid_t pid, int pidfd);

/* The same of the text of its "stat". */
int ending_parse(const char *stat);

/* ", killed by SIGSEGV", ", with exit status 3", or "" for what is not a status. */
void ending_describe(int status, char *text, size_t size);

#endif
