/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a server gets a flight recorder, and its options: what the program and PROFTAP_RECORDER say together. */
#ifndef LIB_RECORDER_SETTINGS_H
#define LIB_RECORDER_SETTINGS_H

#include "lib/wire/arena.h"

struct diag;
struct ptap_server_options;

/* Lines key=value, terminated. What the keys mean only the server knows. */
struct recorder_text {
	char lines[sizeof((struct arena *)0)->recorder_options];
};

/*
 * Makes the fields |recorder| and |recorder_options| of |o| those that are to be; the latter then points into |text|. The
 * environment can switch a recorder on, and what it says of a key comes last. 0, or -EINVAL with |d|.
 */
int recorder_settings_find(
	struct ptap_server_options *o, struct recorder_text *text, struct diag *d);

#endif
