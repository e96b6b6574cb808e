/* SPDX-License-Identifier: Apache-2.0 */
/* Launching a server: what it is asked for, and the ways to one. */
#ifndef LIB_LAUNCH_H
#define LIB_LAUNCH_H

#include <proftap/proftap.h>

#include "lib/control/recorder_settings.h"
#include "lib/spawn/address.h"

struct diag;
struct spawn;

/* A server that is asked for; both ways to one (own_server.h, lent_server.h) begin with this. */
struct launch {
	struct ptap_server_options o; /* settled: without what is in the two texts */
	struct recorder_text recorder;
	char address[LISTEN_ADDRESS_BYTES];
	uint32_t ring_bytes;
	uint32_t n_rings; /* fewer once they did not fit */
	struct spawn *spawn;
};

/*
 * Runs |make|, which makes listener and arena of l->spawn, until these fit: with fewer rings, and when a port in use has
 * become free. What it returned last.
 */
int launch_until_it_fits(struct launch *l, int (*make)(void *context), void *context);

/*
 * Starts a server as |o| asks, or with |is_private| one that nobody can connect to. Under the guest's lock,
 * while nothing serves. 0 or a negative errno with |d|.
 */
int launch_server(const struct ptap_server_options *o, int is_private, struct diag *d);

#endif
