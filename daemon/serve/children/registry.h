/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers of children that sent this one a notice, and are still alive: a capture of
 * subprocesses asks them, too (descendants.h). The registry knows children that the kernel does not
 * report as descendants: daemons, and children in other pid namespaces or with other runtime
 * directories.
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
 * A notice is what the server of a child says to its parent's, on the private socket that
 * PROFTAP_PARENT names: where it can be asked. It is one message without an answer; the door knows
 * it by its first bytes (greeting.h), so that no server starts gRPC for it. The sender is of the
 * same user, and may still err.
 *
 *	PROFTAP CHILD NOTICE 1\r\n
 *	PID HOPS unix:/PATH\n
 *
 * It brings a pidfd of PID (SCM_RIGHTS), where the kernel knows those. HOPS is below
 * NOTICE_MAX_HOPS, and PATH can be printed.
 */

/*
 * So many servers pass a notice on to their own parents, so that it ends where parents were set in
 * a circle.
 */
#define NOTICE_MAX_HOPS 8
#define NOTICE_ADDRESS_BYTES 128

struct notice {
	pid_t pid; /* of the program, in its own pid namespace */
	unsigned n_hops; /* so many servers have passed it on */
	char address[NOTICE_ADDRESS_BYTES]; /* "unix:/path", of its server's private socket */
	int pidfd; /* of the program; -1: none */
};

/* Sends all of it at once: 0 or a negative errno. */
int notice_send(int fd, const struct notice *n);

/*
 * Reads what lies in the socket |fd|. 0, and out->pidfd is the caller's, or a negative errno for
 * what is no notice.
 */
int notice_read(int fd, struct notice *out);

#define REGISTRY_MAX 256

struct registered {
	pid_t pid; /* of the program: ours, or as its own namespace has it if ours has none */
	bool is_pid_ours; /* the kernel said so */
	int pidfd; /* -1: none */
	int64_t since_ns; /* Unix time, when it was heard of */
	/* "unix:/path" of its server, as this process can reach it */
	char address[NOTICE_ADDRESS_BYTES];
};

struct registry {
	pthread_mutex_t mutex; /* of all */
	struct registered v[REGISTRY_MAX];
	size_t n;
};

void registry_init(struct registry *r);

/*
 * Adds the sender of |n|, in place of an earlier notice of the same program or server; n->pidfd is
 * taken. |peer| is the process that sent it, 0 when unknown. 0, and n->address is one that this
 * process can reach; -EBADF for a descriptor that is no pidfd, or -ENOSPC.
 */
int registry_add(struct registry *r, struct notice *n, pid_t peer);

/*
 * Copies those whose program and server are there now, oldest first; |out| has room for
 * REGISTRY_MAX. The others are forgotten. Returns how many. (Their pidfds stay the registry's.)
 */
size_t registry_list(struct registry *r, struct registered *out);

#endif
