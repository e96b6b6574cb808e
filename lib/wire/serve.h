/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program that cannot start a server asks a host daemon for one (docs/internals/host.md): one message each way on the
 * registry's socket (base/runtime_dir.h). The request brings the program's sealed arena and, behind it, its listener, unless
 * nobody shall connect. Who asks is a clone of the program, which waits for the answer; of itself it says nothing but
 * that, since the kernel says the rest. The answer comes from the server.
 */
#ifndef WIRE_SERVE_H
#define WIRE_SERVE_H

#include <stdint.h>

/* Its first line, as of all messages there; not terminated. */
#define SERVE_WORD "PROFTAP SERVE 1\n"
#define SERVE_WORD_BYTES 16
#define SERVE_MAX_DESCRIPTORS 2
/* How long a program waits, in the middle of its start: systemd may have to start the daemon first. */
#define SERVE_TIMEOUT_MS 10000

struct serve_request {
	char word[SERVE_WORD_BYTES];
	/* 1: who asks is the program itself, because clone is fork there (valgrind); 0: it is the program's child */
	uint32_t is_program;
};

struct serve_answer {
	int32_t result; /* 0, or a negative errno */
};

#endif
