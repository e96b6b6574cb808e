/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices (registry.h) between the servers of a program, its parent and its children. A server
 * sends its own, once, to the one that PROFTAP_PARENT names, and passes on the notices of its
 * children's servers.
 *
 * Threads: the loop's only; the registry may be used by any.
 */
#ifndef DAEMON_NOTICE_RELAY_H
#define DAEMON_NOTICE_RELAY_H

#include <uv.h>

#include "daemon/serve/children/registry.h"

struct access;

struct notice_relay {
	uv_loop_t *loop;
	struct access *access; /* its target: parents and children must have its user, or be root */
	struct registry *registry;
	unsigned n_attempts; /* notices that the parent has not taken yet */
	char parent[NOTICE_ADDRESS_BYTES]; /* "": none, or not known yet */
};

void notice_relay_init(struct notice_relay *relay, uv_loop_t *loop, struct access *access,
	struct registry *registry);

/*
 * Tells the server at |parent| ("" is none) that the program |pid| has a server at |own|. Does not
 * wait: if the parent is busy, tries again later, for 10 s. Gives up if no server listens there, or
 * if that server is another user's.
 */
void notice_relay_announce(
	struct notice_relay *relay, const char *parent, pid_t pid, const char *own);

/*
 * Reads a child's notice from the connection |fd| (borrowed), notes it in the registry, and passes
 * it on to the parent.
 */
void notice_relay_hear(struct notice_relay *relay, int fd);

#endif
