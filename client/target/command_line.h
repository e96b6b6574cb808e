/* SPDX-License-Identifier: Apache-2.0 */
/* The command line by which a running process was started. */
#ifndef CLIENT_COMMAND_LINE_H
#define CLIENT_COMMAND_LINE_H

#include <stddef.h>
#include <sys/types.h>

struct command_line {
	char program[4096]; /* the file that it runs, as it was found then: a link stays a link */
	char text[4096]; /* the whole, quoted for a shell; "…" at its end: cut */
	char dir[4096]; /* where it has to be given, because a word of it is a file there; "": anywhere */
};

/*
 * Reads it from /proc below |root| ("" or a test's). 0, or a negative errno: -ENODATA when the process has overwritten it (as
 * servers do that show what they are doing), so that its first word is not the file that the process runs.
 */
int command_line_read(const char *root, pid_t pid, struct command_line *out);

#endif
