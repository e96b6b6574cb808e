/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the server process from inside somebody else's program, unnoticed: see spawn.c and
 * docs/internals/spawn.md.
 */
#ifndef SPAWN_SPAWN_H
#define SPAWN_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct arena;
struct diag;
struct ptap_server_options;

/* The step that failed. */
enum spawn_stage {
	SPAWN_CLONE,
	SPAWN_SOCKET,
	SPAWN_BIND,
	SPAWN_ARENA,
	SPAWN_EXEC,
};

/* A request for a server, and its result. It lies in shared memory: clone may have become fork. */
struct spawn {
	/* request */
	const char *path; /* of proftapd */
	char *const *argv;
	char *const *envp;
	struct sockaddr_storage address;
	socklen_t address_bytes; /* 0: the server has no listener */
	uint32_t socket_mode; /* of an address that is a path */
	uint64_t arena_bytes;
	/* result */
	enum spawn_stage stage; /* of the failure */
	int error; /* 0 or negative errno */
	int32_t pid; /* of the server */
	uint16_t port; /* bound and listening, or 0 */
	struct arena *arena; /* mapped, without access */
	/* private to the clones */
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
 * Runs |f| in a clone that shares the memory and not the descriptor table, all signals blocked, and
 * returns when the clone has ended. |f| makes raw system calls only. Where clone becomes fork, |f|
 * runs in the caller with |is_apart| false: it closes what it opens. 0 or a negative errno.
 */
int spawn_run_apart(void (*f)(void *argument, bool is_apart), void *argument);

/* Fills |d| for |s|, which failed to run proftapd at |path| as |o| asks. Returns |s->error|. */
int spawn_explain(const struct spawn *s, const char *path, const struct ptap_server_options *o,
	struct diag *d);

/*
 * The environment without LD_*, PROFTAP_*, GRPC_* and *_proxy. The array is malloc'ed, the strings
 * are the host's. NULL when memory ran out.
 */
char **spawn_clean_environment(void);

/*
 * False after unshare(CLONE_NEWPID) or setns(): this process can start no thread any more, and the
 * first process that it clones becomes PID 1 of the new namespace, which dies with it. True where
 * that cannot be known (no /proc).
 */
bool pid_space_is_shared_with_children(void);

#endif
