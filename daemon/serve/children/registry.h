/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers of children that told this one of themselves (notice.h), and still live: a capture of
 * subprocesses asks them, too (descendants.h). It is found there what the kernel's word for descent
 * does not say: daemons, children in other pid namespaces or with other runtime directories.
 *
 * Threads: any.
 */
#ifndef DAEMON_REGISTRY_H
#define DAEMON_REGISTRY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/serve/children/notice.h"

#define REGISTRY_MAX 256

struct registered {
	pid_t pid; /* of the program: ours, or as its own namespace has it if ours has none */
	int is_pid_ours; /* the kernel said so */
	int pidfd; /* -1: none */
	int64_t since_ns; /* Unix time, when it was heard of */
	char address
		[NOTICE_ADDRESS_BYTES]; /* "unix:/path" of its server, as this process can reach it */
};

struct registry {
	pthread_mutex_t mutex; /* of all */
	struct registered v[REGISTRY_MAX];
	size_t n;
};

void registry_init(struct registry *r);

/*
 * Adds who said |n|, in place of an earlier notice of the same program or server; n->pidfd is
 * taken. |peer| is the process that said it, 0 when unknown. 0 and n->address is as this process
 * can reach it, -EBADF for a descriptor that is no pidfd, or -ENOSPC.
 */
int registry_add(struct registry *r, struct notice *n, pid_t peer);

/*
 * Copies those whose program and server are there now, oldest first; |out| has room for
 * REGISTRY_MAX. The others are forgotten. Returns how many. (Their pidfds stay the registry's.)
 */
size_t registry_list(struct registry *r, struct registered *out);

#endif
