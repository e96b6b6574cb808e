/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that cannot start a server asks a host daemon for one (docs/internals/host.md) with one
 * message each way on the registry's socket (base/runtime_dir.h). The request brings the program's
 * sealed arena and then the program's listener, if it has one. The sender is a clone of the
 * program, or the program itself, and waits for the answer. The request contains only which of the
 * two sent it; the kernel reports the sender's identity. The answer comes from the server.
 */
#ifndef WIRE_SERVE_H
#define WIRE_SERVE_H

#include <stdint.h>

/* The first line, as in all messages on that socket; not terminated. */
#define SERVE_WORD "PROFTAP SERVE 1\n"
#define SERVE_WORD_BYTES 16
#define SERVE_MAX_DESCRIPTORS 2
/*
 * The timeout of a program, in the middle of its start: systemd may have to start the daemon first.
 */
#define SERVE_TIMEOUT_MS 10000

struct serve_request {
	char word[SERVE_WORD_BYTES];
	/*
	 * 1: the sender is the program itself, because clone is fork there (valgrind); 0: its child
	 */
	uint32_t is_program;
};

struct serve_answer {
	int32_t result; /* 0, or a negative errno */
};

/* The descriptors that a server finds open after exec. */

#define SPAWN_FD_LISTENER 3 /* bound, listening, non-blocking */
#define SPAWN_FD_ARENA 4 /* the sealed memfd */
/*
 * In a server that a host daemon started: the socket on which its program waits for the answer
 * (serve.h).
 */
#define SPAWN_FD_ANSWER 5

#endif
