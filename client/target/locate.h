/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the socket or port of the server of a process that the user named by its pid or name. */
#ifndef CLIENT_LOCATE_H
#define CLIENT_LOCATE_H

#include <stddef.h>
#include <stdint.h>

struct address;
struct diag;

/*
 * Sets a->path, or a->host and a->port, from a->lookup, unless a->lookup is "" or a->path is set.
 * 0, or a negative errno with |d|: -ESRCH: no process has that pid; -ENOENT: no target has that pid
 * or name, or its server is stopped; -EINVAL: several targets have that name, and a table of them
 * was written to standard error.
 */
int locate(struct address *a, struct diag *d);

/*
 * Call it when nobody listens on the port of |a|. If the user typed only the port, and that number
 * is the pid of a target, does the same as locate(). Otherwise returns -ECONNREFUSED; if the number
 * is the pid of another process, |d| reports that.
 */
int locate_port_as_pid(struct address *a, struct diag *d);

/*
 * Call it when a server listens on the port of |a|. If the user typed only a number, and it is also
 * the pid of another target, prints on standard error which of the two was chosen, and how to name
 * the other. It prints this once for each address.
 */
void locate_warn_of_pid(struct address *a);

/*
 * Waits up to |wait_ms| (-1: no limit) until a program that matches |pattern| (targets_match())
 * starts a server, and sets |out| to it. 0, or a negative errno with |d|: -ETIMEDOUT, -EINTR.
 */
int locate_next(const char *pattern, int64_t wait_ms, struct address *out, struct diag *d);

/*
 * Replaces each of the *n addresses in *v (malloc'ed) whose |lookup| is no pid, but a name, by the
 * addresses of all programs of that name. 0, or a negative errno with |d|: then nothing has
 * changed.
 */
int locate_all(struct address **v, size_t *n, struct diag *d);

#endif
