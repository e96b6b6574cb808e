/* SPDX-License-Identifier: Apache-2.0 */
/* proftap list of another machine, through ssh: for people, and to find targets there by their pids and names. */
#ifndef CLIENT_REMOTE_LIST_H
#define CLIENT_REMOTE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct address;
struct diag;

/*
 * Runs |command| there, a line for a shell that begins with "proftap list", and reads what it prints into *out, which the caller
 * frees. What it says on standard error goes to ours. An enum exit_code, with |d| when it is not EXIT_DONE.
 */
int remote_list_read(const char *destination, const char *command, char **out, struct diag *d);

/*
 * Turns those of the |n| addresses that have a pid or a name into what a tunnel to |destination|
 * can lead to. The other machine is not asked if there are none. An enum exit_code, with |d| when
 * it is not EXIT_DONE.
 */
int remote_list_locate(const char *destination, struct address *v, size_t n, struct diag *d);

/*
 * Looks up as pids those of the |n| addresses that |is_meant_as_pid| marks, because nobody answers
 * on such a port there. Where the number is the pid of a target, the address becomes that target's.
 * Returns how many did.
 */
size_t remote_list_locate_ports(
	const char *destination, struct address *v, size_t n, const bool *is_meant_as_pid);

/*
 * Replaces *v (malloc'ed, *n of them), as locate_all() does it with programs of this machine. An enum exit_code, with |d| when it is not
 * EXIT_DONE: then nothing has changed.
 */
int remote_list_expand(const char *destination, struct address **v, size_t *n, struct diag *d);

#endif
