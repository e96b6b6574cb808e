/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks the host daemon, and whom that one may ask for: the one place where it is decided. What
 * TLS and tokens will say of a caller goes in here, too.
 */
#ifndef DAEMON_CALLER_H
#define DAEMON_CALLER_H

#include <pthread.h>
#include <sys/types.h>

#define OPERATORS_BYTES 256

/* The group whose members may ask for all programs; a reload of the settings changes it. */
struct operators {
	pthread_mutex_t mutex;
	char group[OPERATORS_BYTES]; /* under mutex; "": none */
};

void operators_init(struct operators *o);
/* Any thread. |group| is cut. */
void operators_set(struct operators *o, const char *group);

struct caller {
	uid_t uid;
	int may_all; /* root, and members of the operators' group */
	char peer[64]; /* for people: the other end, and how its uid is known; "": nobody looked */
};

/* The same without |may_all|, for which the machine's lists of users are read. */
int caller_know(struct caller *c, int fd);

/*
 * Of the connection |fd|, by loopback or a unix socket: 0, or -EACCES when the kernel does not know
 * whose it is.
 */
int caller_identify(struct caller *c, int fd, struct operators *operators);

/* Whether |c| may see, and record, programs of |uid|. */
int caller_may_ask(const struct caller *c, uid_t uid);

#endif
