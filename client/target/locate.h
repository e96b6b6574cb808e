/* SPDX-License-Identifier: Apache-2.0 */
/* From a pid or a name to the socket of the server that records it. */
#ifndef CLIENT_LOCATE_H
#define CLIENT_LOCATE_H

#include <stddef.h>
#include <stdint.h>

struct address;
struct diag;

/*
 * When a->lookup says so: fills in a->path. 0, or a negative errno with |d|: -ESRCH when there is no process of that pid, -ENOENT
 * when it, or the name, is no target's, -EINVAL when there are several of that name: then a table of them goes to standard error.
 */
int locate(struct address *a, struct diag *d);

/*
 * Nobody listens on the port that |a| says: if it is the pid of a target, fills in a->path and returns 0. If it is another process's
 * pid, |d| says so. -ECONNREFUSED: it is no target's.
 */
int locate_port_as_pid(struct address *a, struct diag *d);

/*
 * Somebody listens on the port that |a| says. Where that was a number alone, and is the pid of another target, a line on standard
 * error says which of the two was taken, and how the other is called. Says it once of an address.
 */
void locate_warn_of_pid(struct address *a);

/*
 * Waits for the next program to start a server whose name matches |pattern| (targets_match()), |wait_ms| at most (-1: for good):
 * fills in |out|. 0, or a negative errno with |d|: -ETIMEDOUT, -EINTR.
 */
int locate_next(const char *pattern, int64_t wait_ms, struct address *out, struct diag *d);

/*
 * Replaces *v (malloc'ed, *n of them): each that has a name becomes as many as there are programs called so. 0, or a negative errno
 * with |d|: then nothing has changed.
 */
int locate_all(struct address **v, size_t *n, struct diag *d);

#endif
