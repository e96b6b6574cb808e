/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the server process from inside somebody else's program, unnoticed: see spawn.c and
 * docs/internals/spawn.md.
 */
#ifndef SPAWN_SPAWN_H
#define SPAWN_SPAWN_H

#include <stdint.h>
#include <sys/socket.h>

struct arena;

/* Where it failed. */
enum spawn_stage {
	SPAWN_CLONE,
	SPAWN_SOCKET,
	SPAWN_BIND,
	SPAWN_ARENA,
	SPAWN_EXEC,
};

/* What is asked for, and what came of it. Lies in shared memory: clone may have become fork. */
struct spawn {
	/* asked */
	const char *path; /* of proftapd */
	char *const *argv;
	char *const *envp;
	struct sockaddr_storage address;
	socklen_t address_bytes; /* 0: nobody shall connect */
	uint32_t socket_mode; /* of an address that is a path */
	uint64_t arena_bytes;
	/* answered */
	enum spawn_stage stage; /* of the failure */
	int error; /* 0 or negative errno */
	int32_t pid; /* of the server */
	uint16_t port; /* bound and listening, or 0 */
	struct arena *arena; /* mapped, without access */
	/* inside */
	int32_t listener;
	int32_t memfd;
};

/* A zeroed request in shared memory, or NULL. */
struct spawn *spawn_new(void);
struct spawn *spawn_free(struct spawn *s); /* NULL ok; returns NULL; the arena stays */

/*
 * Makes listener and arena and execs the server. 0, or the negative errno that is also in |error|.
 * 0 does not prove that the server lives: only its hello does.
 */
int spawn_run(struct spawn *s);

/*
 * Runs |f| in a clone that shares the memory and not the descriptor table, all signals blocked, and returns
 * when that has ended. |f| makes raw system calls only. Where clone becomes fork it runs here, with
 * |is_apart| 0: it closes what it opens. 0 or a negative errno.
 */
int spawn_run_apart(void (*f)(void *argument, int is_apart), void *argument);

#endif
