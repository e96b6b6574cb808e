/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is whole or not there: written under a temporary name beside it, synced, then given its own, in the place of
 * what had it.
 */
#ifndef CLIENT_OUTPUT_FILE_H
#define CLIENT_OUTPUT_FILE_H

struct diag;

struct output_file {
	char *path; /* that it is to have */
	char *temporary; /* that it has; NULL: none */
	int fd; /* -1: none */
};

#define OUTPUT_FILE_INIT       \
	{                      \
		NULL, NULL, -1 \
	}

/* 0 or a negative errno with |d|. output_file_close() in any case. */
int output_file_open(struct output_file *o, const char *path, struct diag *d);
int output_file_publish(struct output_file *o, struct diag *d);
/* Removes what was not published. */
void output_file_close(struct output_file *o);

#endif
