/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where clients come in: by the listener that the program left and by the private sockets, each let in by its own rule,
 * all to one gRPC server. That is started with the first connection: its timers would wake the machine three times a
 * second.
 *
 * Threads: the loop's, unless it says otherwise.
 */
#ifndef DAEMON_RECEPTION_H
#define DAEMON_RECEPTION_H

#include <uv.h>

#include "daemon/kernel/socket_file.h"
#include "daemon/serve/children/announcer.h"
#include "daemon/serve/children/kin.h"
#include "daemon/serve/door/access.h"
#include "daemon/serve/door/door.h"
#include "daemon/serve/door/private.h"
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
	struct private private;
	char own_socket[ARENA_SOCKET_BYTES]; /* the private one, "unix:PATH"; "": none */
	struct kin kin; /* whose servers come in, too */
	struct announcer announcer; /* to host daemons, which send channels */
	struct socket_file socket_file; /* that it listens on instead of a port */
	struct rpc_server *rpc; /* NULL: nobody has come yet */
};

/* |r| is zero. */
void reception_init(struct reception *r, struct service *service, struct target *target);

/* Opens the doors, the listener being there. 0 or libuv's error. |r| stays where it is until the loop has ended. */
int reception_open(struct reception *r, uv_loop_t *loop);
/* Puts the private socket's place into the arena, whose head is filled. Before the hello. Any thread. */
void reception_tell_target(const struct reception *r);
/* Tells the parent's server, if the program has one, and host daemons. After that. */
void reception_announce(struct reception *r);
/* The program has died: nobody comes in any more but by the private sockets. Returns the user whose it was. */
uid_t reception_close_port(struct reception *r);
/* Nobody comes in any more; those that are served stay. */
void reception_close(struct reception *r);

/* When the loop has ended: waits for answers that are on their way, up to a minute. */
void reception_end(struct reception *r);

/* Fills in who may come in and where. Any thread. */
void reception_describe(struct reception *r, struct status *s);

#endif
