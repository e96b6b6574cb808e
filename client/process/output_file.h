/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is whole or not there: written under a temporary name beside it, synced, then given its own, in the place of
 * what had it. A link goes on leading there. What is no file (a FIFO, a device) is opened and written as it is.
 */
#ifndef CLIENT_OUTPUT_FILE_H
#define CLIENT_OUTPUT_FILE_H

#include <stdbool.h>

struct diag;
struct temporary;

struct output_file {
	char *path; /* as it was asked for */
	char *target; /* behind its links: the name that the file is to have */
	char *temporary; /* that it has; NULL: none */
	struct temporary *guard; /* removes it when a signal ends the program */
	int fd; /* -1: none */
};

#define OUTPUT_FILE_INIT                   \
	{                                  \
		NULL, NULL, NULL, NULL, -1 \
	}

/* Whether that is our standard output: "-", or a link to it as /dev/stdout is one. */
bool output_file_is_standard(const char *path);

/* 0 or a negative errno with |d|. output_file_close() in any case. */
int output_file_open(struct output_file *o, const char *path, struct diag *d);
int output_file_publish(struct output_file *o, struct diag *d);
/* Removes what was not published. */
void output_file_close(struct output_file *o);

#endif
