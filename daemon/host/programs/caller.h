/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller of the host daemon, and the programs that it may ask for. These rights are decided
 * only here. If TLS or tokens are ever used, they must identify callers here, too.
 */
#ifndef DAEMON_CALLER_H
#define DAEMON_CALLER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define OPERATORS_BYTES 256

/* The group whose members may ask for all programs; a reload of the settings changes it. */
struct operators {
	pthread_mutex_t mutex;
	char group[OPERATORS_BYTES]; /* under mutex; "": none */
};

void operators_init(struct operators *o);
/* Any thread may call it. Cuts a |group| that is too long. */
void operators_set(struct operators *o, const char *group);

struct caller {
	uid_t uid;
	bool may_all; /* root, and members of the operators' group */
	char peer
		/* description of the connection, and how its uid is known; "": not examined */
		[64];
};

/*
 * Identifies the caller of the connection |fd|, but leaves |may_all| false, because that needs the
 * machine's lists of users. 0, or -EACCES when the kernel does not know the user.
 */
int caller_know(struct caller *c, int fd);

/*
 * Identifies the caller of the connection |fd|, by loopback or a unix socket. 0, or -EACCES when
 * the kernel does not know the user.
 */
int caller_identify(struct caller *c, int fd, struct operators *operators);

/* Returns true if |c| may see and record programs of |uid|. */
bool caller_may_ask(const struct caller *c, uid_t uid);

#endif
