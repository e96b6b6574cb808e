/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have how many of this server's descriptors (RLIMIT_NOFILE; the hard limit, which the program had when it started
 * the server). gRPC aborts when it finds none for itself, and what followed children need must not keep clients out.
 */
#ifndef DAEMON_DESCRIPTORS_H
#define DAEMON_DESCRIPTORS_H

enum descriptors_use {
	DESCRIPTORS_OF_CONNECTIONS, /* all but 24, or but a quarter of a low limit: those are gRPC's */
	DESCRIPTORS_OF_CHILDREN, /* all but 128, or but half of a low limit; and of all else that must not keep clients out */
};

/* |fd|, just opened; or -1 with errno EMFILE when it is not for that use: it is closed then. A negative one stays. */
int descriptors_keep(int fd, enum descriptors_use use);

/* Whether so many are left for that use. */
int descriptors_are_left(unsigned n, enum descriptors_use use);

#endif
