/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks the host daemon, and whom that one may ask for: the one place where it is decided. What TLS and tokens will say
 * of a caller goes in here, too.
 */
#ifndef DAEMON_CALLER_H
#define DAEMON_CALLER_H

#include <sys/types.h>

struct caller {
	uid_t uid;
	int may_all; /* root, and members of the operators' group */
};

/* Of the connection |fd|, by loopback or a unix socket: 0, or -EACCES when the kernel does not know whose it is. */
int caller_identify(struct caller *c, int fd, const char *operators);

/* Whether |c| may see, and record, programs of |uid|. */
int caller_may_ask(const struct caller *c, uid_t uid);

#endif
