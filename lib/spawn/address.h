/* SPDX-License-Identifier: Apache-2.0 */
/* The address that a server is to listen on. */
#ifndef SPAWN_ADDRESS_H
#define SPAWN_ADDRESS_H

struct diag;
struct ptap_server_options;
struct spawn;

/* bytes, of the longest numeric address with its terminator */
#define LISTEN_ADDRESS_BYTES 64

/*
 * Writes an address in brackets, "[::1]", as "::1" to |text| and points options->address there.
 * Leaves other addresses alone.
 */
void listen_address_strip(struct ptap_server_options *options, char text[LISTEN_ADDRESS_BYTES]);

/*
 * Parses options->address into |s|: "unix:PATH", "localhost", or a numeric address, since other
 * names would need the resolver in the program that starts the server. -EINVAL with |d| for
 * anything else, and for an address that is not loopback without options->insecure.
 */
int listen_address_parse(
	const struct ptap_server_options *options, struct spawn *s, struct diag *d);

#endif
