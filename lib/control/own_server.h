/* SPDX-License-Identifier: Apache-2.0 */
/* A server that this process starts itself: proftapd, executed. */
#ifndef LIB_OWN_SERVER_H
#define LIB_OWN_SERVER_H

struct diag;
struct launch;

/* Nothing can be executed here, or nothing may become a child; |d| says why, and d->code is a negative errno. */
#define OWN_SERVER_IMPOSSIBLE 1

/* 0, with which it serves; OWN_SERVER_IMPOSSIBLE; or a negative errno with |d|. */
int own_server_start(struct launch *l, struct diag *d);

#endif
