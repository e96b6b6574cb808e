/* SPDX-License-Identifier: Apache-2.0 */
/* A server that a host daemon starts for this process, which cannot: it lends one. */
#ifndef LIB_LENT_SERVER_H
#define LIB_LENT_SERVER_H

struct diag;
struct launch;

/*
 * 0, with which it serves, or a negative errno with |d|. Until then |d| says why this process can have none of its own; where no
 * daemon is there that stays, with the remedies.
 */
int lent_server_start(struct launch *l, struct diag *d);

#endif
