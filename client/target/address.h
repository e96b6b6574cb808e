/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of a target as a user types it: PORT, HOST:PORT, [v6]:PORT, unix:PATH, a pid or a
 * name.
 */
#ifndef CLIENT_ADDRESS_H
#define CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

/* The default port of the host daemon for gRPC. */
#define ADDRESS_HOST_PORT 9021

struct address {
	char host[256]; /* a name or a literal, without brackets */
	uint16_t port; /* 0: |path| or |lookup| is set */
	char path[108]; /* a unix socket; "": none */
	/*
	 * A pid, a name, NAME@dead or a program's path, from which locate() sets
	 * |path| or |port|; or "".
	 */
	char lookup[256];
	/* If several programs have that name, the one that started last is chosen. */
	bool is_newest;
	bool is_bare; /* the user typed only a number, which may also be a pid */
	/* |path| is our end of a tunnel; host and port (0: a socket) are its other end. */
	bool is_tunnel;
	/* The program that a host daemon is to record; "": its only program, or no host daemon. */
	char target[80];
	/*
	 * For messages: "host:9999", "[::1]:9999", "unix:/run/proftap/4242.sock", "host:9021 target
	 * 4242".
	 */
	char text[384];
	char words[512]; /* for a command line: |text|, or "--ssh gpu7 localhost:9999" */
};

/*
 * Parses |text|. |default_host| (NULL: localhost) is the host of a bare PORT; with any other form
 * it is an error. 0, or -EINVAL with |d|.
 */
int address_parse(const char *text, const char *default_host, struct address *out, struct diag *d);

/*
 * Returns true if the address, judged by its host's name, is one of this machine. A forwarded port
 * may still lead elsewhere.
 */
bool address_is_here(const struct address *a);

/* Sets |text| and |words| from the other members. */
void address_format(struct address *a);

#endif
