/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to unix sockets, including those that ssh forwards. */
#ifndef CLIENT_DIAL_UNIX_H
#define CLIENT_DIAL_UNIX_H

struct address;
struct diag;

/*
 * Returns a close-on-exec, non-blocking socket connected to the unix socket at |path|, or a
 * negative errno.
 */
int dial_path(const char *path);

/* Connects to the path of |a|. Returns the same as dial(). */
int dial_unix(const struct address *a, struct diag *d);

#endif
