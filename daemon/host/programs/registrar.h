/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry's socket, where attached servers announce their programs
 * (daemon/serve/children/announcement.h). Each server keeps a connection for as long as it lives.
 * The daemon checks an announcement with the kernel: the program is the process of the pidfd that
 * came with it, and must belong to the server's user, unless the server runs as root. Programs that
 * cannot start a server also ask for one here.
 *
 * Threads: only the loop's thread.
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
	uv_timer_t patience; /* ends at the earliest deadline of a connection */
	int listener; /* -1: closed */
	struct announced *first; /* list of the connections, the newest first */
	size_t n;
};

/*
 * Watches |listener| (SOCK_SEQPACKET, non-blocking), which registrar_refuse() or registrar_close()
 * closes. Returns 0 or libuv's error. |r| must not move until the loop has ended.
 */
int registrar_open(struct registrar *r, uv_loop_t *loop, int listener, struct programs *programs,
	struct starter *starter);

/* Accepts no more connections, and keeps those that exist. A second call does nothing. */
void registrar_refuse(struct registrar *r);

/* Closes all connections and forgets their programs. A second call does nothing. */
void registrar_close(struct registrar *r);

#endif
