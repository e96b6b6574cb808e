/* SPDX-License-Identifier: Apache-2.0 */
/* The command line by which a running process was started. */
#ifndef CLIENT_COMMAND_LINE_H
#define CLIENT_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct command_line {
	char program[4096]; /* the file that it runs, as it was named: a link stays a link */
	char text[4096]; /* the whole line, quoted for a shell; "…" at its end: it was cut */
	char dir[4096]; /* the directory in which a word of it is a file; "": it may be given anywhere */
};

/*
 * Reads the command line from /proc below |root| ("" or a test's). 0, or a negative errno: -ENODATA
 * when its first word is not the file that the process runs, because the process has overwritten
 * it, as servers do that show what they are doing.
 */
int command_line_read(const char *root, pid_t pid, struct command_line *out);

/*
 * Writes the command line of |pid| as one printable line, without the directory of its program.
 * "": the kernel does not tell it. |n| is 4 at least.
 */
void command_line_show(pid_t pid, char *out, size_t n);

/*
 * Writes the command line of this process in the same form, with |to| in place of |word|. False if
 * not exactly one of its words is |word|, or if it does not fit.
 */
bool command_line_replace(const char *word, const char *to, char *out, size_t n);

#endif
