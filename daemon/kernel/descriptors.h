/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides this server's descriptors (RLIMIT_NOFILE; the hard limit of the program when it started
 * the server). gRPC aborts when it finds none for itself, and followed children must not keep
 * clients out.
 */
#ifndef DAEMON_DESCRIPTORS_H
#define DAEMON_DESCRIPTORS_H

#include <stdbool.h>

enum descriptors_use {
	/* all but 24, or but a quarter of a low limit, which are for gRPC */
	DESCRIPTORS_OF_CONNECTIONS,
	/*
	 * all but 128, or but half of a low limit; also for all other uses that must not keep
	 * clients out
	 */
	DESCRIPTORS_OF_CHILDREN,
};

/*
 * Returns |fd|, which was just opened; or closes it and returns -1 with errno EMFILE if |use| may
 * not have it. A negative |fd| is returned as it is.
 */
int descriptors_keep(int fd, enum descriptors_use use);

/* Whether |use| may have |n| more. */
bool descriptors_are_left(unsigned n, enum descriptors_use use);

#endif
