/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry's socket, where attached servers announce their programs
 * (daemon/serve/children/announcement.h), a connection each for as long as they live. What a server
 * says is believed as far as the kernel bears it out: the program is the one of the pidfd, and it
 * must be of the server's user, unless that is root. Programs that cannot start a server ask for
 * one here, too.
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
	uv_timer_t patience; /* until the first that has said nothing is hung up on */
	int listener; /* -1: closed */
	struct announced *first; /* the youngest */
	size_t n;
};

/*
 * Watches |listener| (SOCK_SEQPACKET, non-blocking; closed by registrar_close()). 0 or libuv's
 * error. |r| stays where it is until the loop has ended.
 */
int registrar_open(struct registrar *r, uv_loop_t *loop, int listener, struct programs *programs,
	struct starter *starter);

/* Nobody else comes in; those that are there stay. Again: nothing. */
void registrar_refuse(struct registrar *r);

/* Forgets all programs. Again: nothing. */
void registrar_close(struct registrar *r);

#endif
