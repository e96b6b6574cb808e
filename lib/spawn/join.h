/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forked child's new arena, and its introduction to the server: see
 * docs/internals/follow_fork.md.
 */
#ifndef SPAWN_JOIN_H
#define SPAWN_JOIN_H

#include <stdint.h>

#include "lib/spawn/spawn.h"
#include "lib/wire/arena.h"
#include "lib/wire/join.h"

/* A request to join, and its result. It lies in shared memory, as struct spawn does. */
struct join {
	/* request */
	struct spawn spawn; /* only arena_bytes is set */
	struct arena head; /* the first bytes of the new arena */
	const char *strings; /* the string table */
	uint32_t strings_bytes;
	char name[JOIN_NAME_BYTES]; /* of the server's abstract socket */
	int32_t server_pid; /* in the namespace of the process that started it */
	uint32_t server_uid;
	/* The server's robust word: its thread id, or none after that thread has ended. */
	const _Atomic uint32_t *server_owner;
	struct join_request request;
	unsigned timeout_ms; /* of each wait; if others are answered meanwhile, it is repeated */
	const _Atomic uint32_t *n_heard; /* joins that the server has answered */
	/* state of the waits */
	uint32_t n_heard_before; /* |*n_heard| at the end of the last wait */
	unsigned n_waits; /* waits in which only others were answered */
	/* result; spawn.arena is the new arena, without access */
	struct join_answer answer;
	int error; /* 0 or negative errno */
};

/* A zeroed request in shared memory, or NULL. */
struct join *join_new(void);
struct join *join_free(struct join *j); /* NULL ok; returns NULL; the arena stays */

/*
 * Makes the arena and sends it. 0 or the negative errno that is also in |error|; then no arena is
 * left.
 */
int join_run(struct join *j);

#endif
