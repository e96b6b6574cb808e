/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child's new arena, and how it is made known to the server: see docs/internals/follow_fork.md. */
#ifndef SPAWN_JOIN_H
#define SPAWN_JOIN_H

#include <stdint.h>

#include "lib/spawn/spawn.h"
#include "lib/wire/arena.h"
#include "lib/wire/join.h"

/* What is asked for, and what came of it. Lies in shared memory, as struct spawn does. */
struct join {
	/* asked */
	struct spawn spawn; /* arena_bytes */
	struct arena head; /* what the new arena begins with */
	const char *strings; /* and the string table */
	uint32_t strings_bytes;
	char name[JOIN_NAME_BYTES]; /* of the server's socket */
	int32_t server_pid; /* whose it is, as the process that started it sees it */
	uint32_t server_uid;
	const _Atomic uint32_t *server_owner; /* no thread's id once that has ended */
	struct join_request request;
	unsigned patience_ms; /* at each step, while the server answers nobody */
	const _Atomic uint32_t *n_heard; /* how many it has answered */
	/* while it waits */
	uint32_t n_heard_before; /* at the end of the last wait */
	unsigned n_waits; /* that have passed without an answer */
	/* answered; spawn.arena is the new arena, without access */
	struct join_answer answer;
	int error; /* 0 or negative errno */
};

/* A zeroed request, or NULL. */
struct join *join_new(void);
struct join *join_free(struct join *j); /* NULL ok; returns NULL; the arena stays */

/* Makes the arena and sends it. 0 or the negative errno that is also in |error|; then there is no arena. */
int join_run(struct join *j);

#endif
