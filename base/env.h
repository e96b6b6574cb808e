/* SPDX-License-Identifier: Apache-2.0 */
/* Every environment variable that proftap reads, in one table. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stdbool.h>

enum env_variable {
	ENV_PROFTAPD,
	ENV_PROFTAP_COLLECTOR,
	ENV_PROFTAP_CUPTI,
	ENV_PROFTAP_DISABLE,
	ENV_PROFTAP_FOLLOW_FORK,
	ENV_PROFTAP_FOLLOW,
	ENV_PROFTAP_LIB,
	ENV_PROFTAP_LOG,
	ENV_PROFTAP_LOG_DIR,
	ENV_PROFTAP_NVTX,
	ENV_PROFTAP_PARENT,
	ENV_PROFTAP_RECORDER,
	ENV_PROFTAP_SERVER,
	ENV_PROFTAP_SERVER_PID,
	ENV_PROFTAP_WAIT,
	N_ENV
};

struct env_row {
	const char *name;
	bool is_safe_in_setuid; /* also read when the program runs with raised rights (AT_SECURE) */
	const char *help;
};

extern const struct env_row env_table[N_ENV];

/*
 * Returns the value, or NULL when it is unset, empty, or ignored in a set-uid program. Borrowed.
 * Safe in a guest.
 */
const char *env_get(enum env_variable v);

/*
 * The value of PROFTAP_FOLLOW if the children belong to a recording: each waits until it is
 * recorded.
 */
#define ENV_FOLLOW_RECORDED "recorded"

/* Returns true if |v| is set to anything but "0". Safe in a guest. */
bool env_is_on(enum env_variable v);

#endif
