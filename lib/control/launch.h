/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a server from its options. */
#ifndef LIB_LAUNCH_H
#define LIB_LAUNCH_H

#include <proftap/proftap.h>
#include <stdbool.h>

#include "lib/spawn/address.h"
#include "lib/wire/arena.h"

struct diag;
struct ptap_server_options;
struct spawn;

/*
 * Decides whether a server gets a flight recorder, and with which options: those of the program and
 * of PROFTAP_RECORDER together.
 */

/* Lines key=value, terminated. Only the server knows the keys. */
struct recorder_text {
	char lines[sizeof((struct arena *)0)->recorder_options];
};

/*
 * Sets the fields |recorder| and |recorder_options| of |o| to their final values; the latter then
 * points into |text|. The environment can switch a recorder on, and its options come last, so they
 * win. 0, or -EINVAL with |d|.
 */
int recorder_settings_find(
	struct ptap_server_options *o, struct recorder_text *text, struct diag *d);

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
 * Starts a server as |o| asks, or with |is_private| one without a listener. Call it under the
 * guest's lock, while no server serves. 0 or a negative errno with |d|.
 */
int launch_server(const struct ptap_server_options *o, bool is_private, struct diag *d);

/* server_path_find() (base/server_path.h), for this library. */
int launch_find_server(char *path, size_t size, struct diag *d);

#endif
