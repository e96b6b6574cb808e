/* SPDX-License-Identifier: Apache-2.0 */
/* From a pid or a name to the socket of the server that records it. */
#ifndef CLIENT_LOCATE_H
#define CLIENT_LOCATE_H

#include <stdbool.h>

struct address;
struct diag;

/*
 * When a->lookup says so: fills in a->path. 0, or a negative errno with |d|: -ENOENT when there is no such target,
 * -EINVAL when there are several.
 */
int locate(struct address *a, struct diag *d);

/* Nobody listens on the port that |a| says: if it is the pid of a target, fills in a->path and returns true. */
bool locate_port_as_pid(struct address *a);

#endif
