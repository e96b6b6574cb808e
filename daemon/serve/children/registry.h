/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers of child processes that sent a notice to this server and are still alive. A capture
 * of subprocesses includes them (descendants.h). The registry contains children that the kernel
 * does not report as descendants: daemons, and children in other pid namespaces or with other
 * runtime directories.
 *
 * Threads: any.
 */
#ifndef DAEMON_REGISTRY_H
#define DAEMON_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * With a notice, the server of a child tells the server of the parent its address. The notice goes
 * to the private socket that PROFTAP_PARENT names. It is one message without an answer; the door
 * recognises it by its first bytes (greeting.h), so that no gRPC server is started for it. The
 * sender has the same user, but its message may still be wrong.
 *
 *	PROFTAP CHILD NOTICE 1\r\n
 *	PID HOPS unix:/PATH\n
 *
 * A pidfd of PID is attached (SCM_RIGHTS) if the kernel supports pidfds. HOPS is below
 * NOTICE_MAX_HOPS, and PATH is printable.
 */

/*
 * At most this many servers receive a notice, so that it does not travel for ever if the parents
 * form a circle.
 */
#define NOTICE_MAX_HOPS 8
#define NOTICE_ADDRESS_BYTES 128

struct notice {
	pid_t pid; /* the program's, in its own pid namespace */
	unsigned n_hops; /* number of servers that have passed it on */
	char address[NOTICE_ADDRESS_BYTES]; /* "unix:/path", of its server's private socket */
	int pidfd; /* of the program; -1: none */
};

/* Sends the whole notice at once. 0 or a negative errno. */
int notice_send(int fd, const struct notice *n);

/*
 * Reads a notice from the socket |fd|. 0, and the caller owns out->pidfd; or a negative errno if
 * the data is no notice.
 */
int notice_read(int fd, struct notice *out);

#define REGISTRY_MAX 256

struct registered {
	pid_t pid; /* the program's in our pid namespace, or in its own if it has none in ours */
	bool is_pid_ours; /* the kernel confirmed that |pid| is in our namespace */
	int pidfd; /* of the program; -1: none */
	int64_t since_ns; /* Unix time of the latest notice */
	/* "unix:/path" of its server, in a form that this process can connect to */
	char address[NOTICE_ADDRESS_BYTES];
};

struct registry {
	pthread_mutex_t mutex; /* protects all members */
	struct registered v[REGISTRY_MAX];
	size_t n;
};

void registry_init(struct registry *r);

/*
 * Adds the program of |n|, and replaces an earlier notice of the same program or server. Takes
 * n->pidfd. |peer| is the process that sent the notice; 0: unknown. 0, and n->address becomes one
 * that this process can reach; -EBADF: the descriptor is no pidfd; or -ENOSPC.
 */
int registry_add(struct registry *r, struct notice *n, pid_t peer);

/*
 * Copies the entries whose program and server are alive, the oldest first, to |out|, which has room
 * for REGISTRY_MAX, and removes the others. Returns the number of copies. The registry still owns
 * their pidfds.
 */
size_t registry_list(struct registry *r, struct registered *out);

#endif
