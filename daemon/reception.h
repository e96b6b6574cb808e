/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepts clients at the listener that the program left and at the private sockets. Each of these
 * has its own rule of access, and all lead to one gRPC server. It is started for the first
 * connection, because its timers wake the machine three times a second.
 *
 * Threads: the loop's, unless noted.
 */
#ifndef DAEMON_RECEPTION_H
#define DAEMON_RECEPTION_H

#include <uv.h>

#include "daemon/kernel/socket_file.h"
#include "daemon/serve/children/announcer.h"
#include "daemon/serve/children/notice_relay.h"
#include "daemon/serve/door/access.h"
#include "daemon/serve/door/door.h"
#include "daemon/serve/door/private_sockets.h"
#include "lib/wire/arena.h"

struct rpc_server;
struct service;
struct status;
struct target;

struct reception {
	struct service *service; /* borrowed, as is |target| */
	struct target *target;
	struct access access;
	struct door door;
	struct private_sockets private;
	char own_socket[ARENA_SOCKET_BYTES]; /* our private socket, "unix:PATH"; "": none */
	struct notice_relay notices; /* to the parent's server, and from the children's */
	struct announcer announcer; /* to host daemons, which send channels */
	struct socket_file socket_file; /* used instead of a port, if the program asked for it */
	struct rpc_server *rpc; /* NULL: no client has come yet */
};

/* |r| is zero. */
void reception_init(struct reception *r, struct service *service, struct target *target);

/*
 * Opens all sockets; the listener, SPAWN_FD_LISTENER, must exist. 0 or libuv's error. |r| must stay
 * where it is until the loop has ended.
 */
int reception_open(struct reception *r, uv_loop_t *loop);
/*
 * Writes the path of the private socket into the arena, whose head is filled. Call it before the
 * hello. Any thread may call it.
 */
void reception_tell_target(const struct reception *r);
/*
 * Announces this server to the server of the parent process, if it has one, and to host daemons,
 * after the hello.
 */
void reception_announce(struct reception *r);
/* Closes all sockets but the private ones after the program's death. Returns the program's user. */
uid_t reception_close_port(struct reception *r);
/* Accepts no more clients; those connected stay. */
void reception_close(struct reception *r);

/* Waits up to a minute for unfinished answers, after the loop has ended. */
void reception_end(struct reception *r);

/* Fills in the user and the addresses. Any thread may call it. */
void reception_describe(struct reception *r, struct status *s);

#endif
