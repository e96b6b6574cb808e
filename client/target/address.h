/* SPDX-License-Identifier: Apache-2.0 */
/* What a user types to say which target: PORT, HOST:PORT, [v6]:PORT, unix:PATH, a pid or a name. */
#ifndef CLIENT_ADDRESS_H
#define CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

/* The host daemon's, for gRPC, unless its settings say another. */
#define ADDRESS_HOST_PORT 9021

struct address {
	char host[256]; /* a name or a literal, without brackets */
	uint16_t port; /* 0: one of the following */
	char path[108]; /* of a unix socket, "" if none */
	/* A pid, a name, NAME@dead or a program's path that is still to be located (locate.h), or "". */
	char lookup[256];
	bool is_newest; /* of several programs of that name the last one that was started is meant */
	bool is_bare; /* a number alone, which may have been meant as a pid */
	bool is_tunnel; /* |path| is our end of a tunnel; host and port (0: a socket there) are the other end's */
	char target[80]; /* which program of a host daemon; "": there is but one, or it is none */
	char text
		[384]; /* for people: "host:9999", "[::1]:9999", "unix:/run/proftap/4242.sock"; "host:9021 target 4242" */
	char words[512]; /* on a command line: |text|, or "--ssh gpu7 localhost:9999" */
};

/*
 * Parses |text|. |default_host| (NULL: localhost) goes with a bare PORT and is an error with any
 * other form. -EINVAL with a sentence.
 */
int address_parse(const char *text, const char *default_host, struct address *out, struct diag *d);

/* Whether it is on this machine, as far as its name tells: a port of it may lead elsewhere. */
bool address_is_here(const struct address *a);

/* Fills in |text| and |words| from path, or from host and port, and |target|. */
void address_format(struct address *a);

#endif
