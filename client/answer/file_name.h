/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capture's file is called, without .xplane.pb: what the user said, HOSTNAME_PORT, or HOSTNAME_NAME_PID
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
	const char *said; /* by the user, or NULL */
	const struct address *address;
	const char *name; /* of a program whose trace does not say it; NULL or "": not known */
	int pid; /* the same one's */
};

/* Whether the target's name is wanted: it is behind a unix socket or a host daemon. */
bool file_name_is_of_program(const struct address *address);

/*
 * A file that is there already is better found before the recording, where its name can be told by then. 0 or
 * -EEXIST with |d|.
 */
int file_name_check_free(const struct file_name *f, const struct run_dir *run_dir, struct diag *d);

/* |answer| tells the target's own hostname, name and pid. */
void file_name_format(const struct file_name *f, const struct answer *answer, char *out, size_t n);

#endif
