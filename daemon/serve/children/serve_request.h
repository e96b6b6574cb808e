/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request, at the registry's socket, of a program that cannot start a server: a text and
 * descriptors. Every byte and descriptor may be hostile.
 */
#ifndef DAEMON_SERVE_REQUEST_H
#define DAEMON_SERVE_REQUEST_H

#include "lib/wire/serve.h"

/* Its descriptors, the caller's. */
struct serve_brought {
	int arena;
	int listener; /* -1: nobody shall connect */
};

/* Whether such a message is next at |fd|. It stays there, with all that it brings. */
int serve_request_is_next(int fd);

/*
 * Takes it. 0; -EAGAIN: none is there; -EPROTO, -EBADMSG or another negative errno: it is no
 * request, or does not bring what it must: an arena that is sealed, and a stream's listener. Then
 * nothing is left open.
 */
int serve_request_read(int fd, struct serve_request *request, struct serve_brought *brought);

/* Answers; nobody is waited for. 0, or a negative errno: who asked is gone. */
int serve_request_answer(int fd, int result);

#endif
