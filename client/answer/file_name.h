/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a capture's file, without .xplane.pb: the user's choice, or HOSTNAME_PORT, or HOSTNAME_NAME_PID
 * for a target behind a unix socket or a host daemon.
 */
#ifndef CLIENT_FILE_NAME_H
#define CLIENT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct address;
struct answer;
struct diag;
struct run_dir;

struct file_name {
	const char *chosen; /* the user's choice or NULL */
	const struct address *address;
	const char *name; /* the program's name, for a trace without it; NULL or "": not known */
	int pid; /* the pid that goes with |name| */
};

/* Whether the program's name is part of the file's name: the target is behind a unix socket or a host daemon. */
bool file_name_is_of_program(const struct address *address);

/*
 * Checks before the recording, as far as the name is known by then, that no such file exists. 0 or -EEXIST
 * with |d|.
 */
int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d);

/* Writes the name of the file. |answer| has the target's own hostname, name and pid. */
void file_name_format(const struct file_name *f, const struct answer *answer, char *out, size_t n);

#endif
