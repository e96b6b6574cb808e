/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs proftap list on another machine through ssh, for people, and to find targets there by their
 * pids and names.
 */
#ifndef CLIENT_REMOTE_LIST_H
#define CLIENT_REMOTE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct address;
struct diag;

/*
 * Runs |command|, a shell command that begins with "proftap list", at |destination| and reads its
 * output into *out, which the caller frees. The command's standard error goes to ours. Returns an
 * enum exit_code, with |d| unless it is EXIT_DONE.
 */
int remote_list_read(const char *destination, const char *command, char **out, struct diag *d);

/*
 * Replaces the pids and names among the |n| addresses by ports or sockets that a tunnel to
 * |destination| can forward to. The other machine is not asked if there are no pids and names.
 * Returns an enum exit_code, with |d| unless it is EXIT_DONE.
 */
int remote_list_locate(const char *destination, struct address *v, size_t n, struct diag *d);

/*
 * Looks up those of the |n| addresses that |may_be_pid| marks, because nothing listens on their
 * port there. If the number is the pid of a target, the address becomes that target's. Returns the
 * number of changed addresses.
 */
size_t remote_list_locate_ports(
	const char *destination, struct address *v, size_t n, const bool *may_be_pid);

/*
 * Replaces the *n addresses in *v (malloc'ed), as locate_all() does for programs of this machine.
 * Returns an enum exit_code; unless it is EXIT_DONE, |d| is set and nothing has changed.
 */
int remote_list_expand(const char *destination, struct address **v, size_t *n, struct diag *d);

#endif
