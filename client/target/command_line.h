/* SPDX-License-Identifier: Apache-2.0 */
/* The command line by which a running process was started. */
#ifndef CLIENT_COMMAND_LINE_H
#define CLIENT_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct command_line {
	char program[4096]; /* the path by which it was called; a link in it stays */
	char text[4096]; /* the whole line, quoted for a shell; it ends with "…" if it was cut */
	/* the working directory, if an argument is a file in it, but not in ours; else "" */
	char dir[4096];
};

/*
 * Reads the command line from /proc below |root| ("" except in tests). 0, or a negative errno:
 * -ENODATA when the first word is not the file that the process runs, because the process has
 * overwritten the line, as servers do to show their state.
 */
int command_line_read(const char *root, pid_t pid, struct command_line *out);

/*
 * Writes the command line of |pid| as one printable line, without the directory of the program. "":
 * the kernel does not report it. |n| is at least 4.
 */
void command_line_show(pid_t pid, char *out, size_t n);

/*
 * Writes the command line of this process in the same form, with |to| in place of |word|. Returns
 * false unless exactly one word is |word| and the line fits.
 */
bool command_line_replace(const char *word, const char *to, char *out, size_t n);

#endif
