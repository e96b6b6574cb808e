/* SPDX-License-Identifier: Apache-2.0 */
/* The address a server is asked to listen on. */
#ifndef SPAWN_ADDRESS_H
#define SPAWN_ADDRESS_H

struct diag;
struct ptap_server_options;
struct spawn;

/* The longest numeric address, with its end. */
#define LISTEN_ADDRESS_BYTES 64

/* Makes "[::1]", as it stands before a port, "::1" in |text|, at which options->address points then. Else nothing. */
void listen_address_strip(struct ptap_server_options *options, char text[LISTEN_ADDRESS_BYTES]);

/*
 * Into s->address and its companions: "unix:PATH", or a numeric address: a name would need the resolver in the host's
 * process. -EINVAL with |d| for anything else, and for an address that is not loopback without options->insecure.
 */
int listen_address_parse(
	const struct ptap_server_options *options, struct spawn *s, struct diag *d);

#endif
