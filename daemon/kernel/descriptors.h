/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides this server's file descriptors among their uses. Their number is RLIMIT_NOFILE, which is
 * the hard limit that the program had when it started the server. gRPC aborts when it gets no
 * descriptor, and followed children must leave descriptors for clients.
 */
#ifndef DAEMON_DESCRIPTORS_H
#define DAEMON_DESCRIPTORS_H

#include <stdbool.h>

enum descriptors_use {
	/* may take all but 24, or three quarters of a low limit; the rest is for gRPC */
	DESCRIPTORS_OF_CONNECTIONS,
	/*
	 * may take all but 128, or half of a low limit; this is also the value for all other uses
	 * that must leave descriptors for clients
	 */
	DESCRIPTORS_OF_CHILDREN,
};

/*
 * Returns |fd|, which was just opened; or closes it and returns -1 with errno EMFILE if |use| may
 * not have it. A negative |fd| is returned as it is.
 */
int descriptors_keep(int fd, enum descriptors_use use);

/* Returns true if |use| may have |n| more descriptors. */
bool descriptors_are_left(unsigned n, enum descriptors_use use);

#endif
