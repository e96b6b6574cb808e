/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells whether a process has become another program by exec: then the memory that it shared with
 * us is unmapped.
 */
#ifndef DAEMON_IMAGE_H
#define DAEMON_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Whether the process lives without any part of the file |fd|, which it had mapped, in its memory.
 * false also if the process is ending or gone, or that cannot be seen, or |pidfd| is -1. If the
 * process ends during the check, the result can be a wrong true, but never twice in a row.
 */
bool image_is_another(pid_t pid, int pidfd, int fd);

/* Writes the path of the program's file, printable, into |out|; "": we may not know it. */
void image_read_path(pid_t pid, char *out, size_t n);

#endif
