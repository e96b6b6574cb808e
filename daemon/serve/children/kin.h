/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server's ties to the servers of its program's parent and children: it tells the one that PROFTAP_PARENT names of
 * itself, once, and of those that told it; and hears those.
 *
 * Threads: the loop's only; the registry's any.
 */
#ifndef DAEMON_KIN_H
#define DAEMON_KIN_H

#include <uv.h>

#include "daemon/serve/children/registry.h"

struct access;

struct kin {
	uv_loop_t *loop;
	struct access *access; /* whose a parent, or a child, may be */
	struct registry *registry;
	unsigned n_attempts; /* notices that the parent had no time for yet */
	char parent[NOTICE_ADDRESS_BYTES]; /* "": none, or not known yet */
};

void kin_init(struct kin *k, uv_loop_t *loop, struct access *access, struct registry *registry);

/*
 * Tells the server at |parent| ("" is none) of this one, of the program |pid|, which is reached at |own|. It does not wait:
 * who has no time now is told later, within 10 s; who is not there, or another user's, never.
 */
void kin_announce(struct kin *k, const char *parent, pid_t pid, const char *own);

/* Reads a notice from the connection |fd| (borrowed), and passes it on to the parent. */
void kin_hear(struct kin *k, int fd);

#endif
