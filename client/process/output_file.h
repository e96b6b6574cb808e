/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is published whole or not at all: it is written under a temporary name beside its
 * final name, synced, then renamed over the previous file. A symbolic link stays, and its target is
 * replaced. A FIFO or a device is opened and written directly.
 *
 * A signal that ends the program (Ctrl-C, SIGTERM, SIGHUP, SIGQUIT) removes the temporary
 * file first, unless another part of the program blocks that signal, as interrupt_start()
 * does, or ignores it.
 */
#ifndef CLIENT_OUTPUT_FILE_H
#define CLIENT_OUTPUT_FILE_H

#include <stdbool.h>

struct diag;
struct temporary;

struct output_file {
	char *path; /* as the caller gave it */
	char *target; /* |path| with its links followed: the name that the file gets */
	char *temporary; /* the name that the file has until it is published; NULL: none */
	struct temporary *guard; /* removes the temporary file when a signal ends the program */
	int fd; /* -1: none */
};

#define OUTPUT_FILE_INIT                   \
	{                                  \
		NULL, NULL, NULL, NULL, -1 \
	}

/* Returns true if |path| is our standard output: "-", or a link to it such as /dev/stdout. */
bool output_file_is_standard(const char *path);

/* 0 or a negative errno with |d|. Call output_file_close() in either case. */
int output_file_open(struct output_file *o, const char *path, struct diag *d);
int output_file_publish(struct output_file *o, struct diag *d);
/* Removes the file if it was not published. */
void output_file_close(struct output_file *o);

#endif
