/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry's socket, where attached servers announce their programs
 * (daemon/serve/children/announcement.h). Each server keeps a connection for as long as it lives.
 * Its words are checked with the kernel: the program is the one of the pidfd, and must belong to
 * the server's user, unless that is root. Programs that cannot start a server ask for one here,
 * too.
 *
 * Threads: the loop's only.
 */
#ifndef DAEMON_REGISTRAR_H
#define DAEMON_REGISTRAR_H

#include <uv.h>

#include "daemon/kernel/accept_pause.h"

struct announced;
struct programs;
struct starter;

#define REGISTRAR_MAX_CONNECTIONS 4096

struct registrar {
	struct programs *programs; /* borrowed */
	struct starter *starter; /* borrowed */
	uv_loop_t *loop;
	uv_poll_t poll; /* on the listener */
	struct accept_pause rest;
	uv_timer_t patience; /* until the oldest silent connection is closed */
	int listener; /* -1: closed */
	struct announced *first; /* the youngest */
	size_t n;
};

/*
 * Watches |listener| (SOCK_SEQPACKET, non-blocking; closed by registrar_close()). 0 or libuv's
 * error. |r| must not move until the loop has ended.
 */
int registrar_open(struct registrar *r, uv_loop_t *loop, int listener, struct programs *programs,
	struct starter *starter);

/* Accepts no more connections, and keeps those that exist. A second call does nothing. */
void registrar_refuse(struct registrar *r);

/* Closes all connections and forgets their programs. A second call does nothing. */
void registrar_close(struct registrar *r);

#endif
