/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a server gets a flight recorder, and with which options: those of the program and
 * of PROFTAP_RECORDER together.
 */
#ifndef LIB_RECORDER_SETTINGS_H
#define LIB_RECORDER_SETTINGS_H

#include "lib/wire/arena.h"

struct diag;
struct ptap_server_options;

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

#endif
