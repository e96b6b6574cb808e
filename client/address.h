/* SPDX-License-Identifier: Apache-2.0 */
/* What a user types to say which target: PORT, HOST:PORT or [v6]:PORT. */
#ifndef CLIENT_ADDRESS_H
#define CLIENT_ADDRESS_H

#include <stdint.h>

struct diag;

struct address {
	char host[256]; /* a name or a literal, without brackets */
	uint16_t port;
	char text[288]; /* for people and for the :authority header: "host:9999", "[::1]:9999" */
};

/*
 * Parses |text|. |default_host| (NULL: localhost) goes with a bare PORT and is an error with any
 * other form. -EINVAL with a sentence.
 */
int address_parse(const char *text, const char *default_host, struct address *out, struct diag *d);

/* Fills in |text| from host and port. */
void address_format(struct address *a);

#endif
