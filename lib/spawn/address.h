/* SPDX-License-Identifier: Apache-2.0 */
/* The address a server is asked to listen on. */
#ifndef SPAWN_ADDRESS_H
#define SPAWN_ADDRESS_H

struct diag;
struct ptap_server_options;
struct spawn;

/*
 * Into s->address and its companions: "unix:PATH", or a numeric address: a name would need the resolver in the host's
 * process. -EINVAL with |d| for anything else, and for an address that is not loopback without options->insecure.
 */
int listen_address_parse(
	const struct ptap_server_options *options, struct spawn *s, struct diag *d);

#endif
