/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a server: from the options to one that serves. */
#ifndef LIB_LAUNCH_H
#define LIB_LAUNCH_H

#include <proftap/proftap.h>
#include <stdbool.h>

#include "lib/control/recorder_settings.h"
#include "lib/spawn/address.h"

struct diag;
struct spawn;

/* A server that is to be started. */
struct launch {
	struct ptap_server_options o; /* settled: it points into the two texts below */
	struct recorder_text recorder;
	char address[LISTEN_ADDRESS_BYTES];
	uint32_t ring_bytes;
	uint32_t n_rings; /* halved each time that the arena did not fit */
	struct spawn *spawn;
};

/*
 * Starts a server as |o| asks, or with |is_private| one without a listener. Under the guest's lock,
 * while no server serves. 0 or a negative errno with |d|.
 */
int launch_server(const struct ptap_server_options *o, bool is_private, struct diag *d);

#endif
