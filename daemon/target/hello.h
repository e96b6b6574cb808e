/* SPDX-License-Identifier: Apache-2.0 */
/* What the library waits for beside the worker's greeting: that there will be none, or that the port is closed. */
#ifndef DAEMON_HELLO_H
#define DAEMON_HELLO_H

struct diag;
struct target;

/* This server cannot serve: ptap_server_start() fails with the words of |d|. */
void hello_fail(struct target *t, const struct diag *d);

/* Nobody can connect any more: ptap_server_stop() waits for that. */
void hello_close(struct target *t);

#endif
