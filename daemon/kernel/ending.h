/* SPDX-License-Identifier: Apache-2.0 */
/* How a process that is not our child ended. */
#ifndef DAEMON_ENDING_H
#define DAEMON_ENDING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Its status as wait(2) gives it, which the kernel tells while it ends and until its parent has asked, in |stat_fd|
 * (departure.h); with |pidfd| also after that, since Linux 6.15. -1: none. -ENODATA when nobody knows: it exited with 0,
 * runs, or was asked for already.
 */
int ending_find(int stat_fd, int pidfd);

/* When it began: with its pid, who it is. 0: it is gone, or nobody may know. */
uint64_t ending_find_start(pid_t pid);

/*
 * Whether the process that began at |start| is known to have exited with status 0. Where that is only likely it is not
 * known: /proc says 0 also to who may not know, and that pid may be another process by now. -1 for |pidfd| is none.
 */
int ending_is_clean(pid_t pid, int pidfd, uint64_t start);

/* As ending_find(), of the text of its "stat". */
int ending_parse(const char *stat);

/* ", killed by SIGSEGV", ", with exit status 3", or "" for what is not a status. */
void ending_describe(int status, char *text, size_t size);

#endif
