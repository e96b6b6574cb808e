/* SPDX-License-Identifier: Apache-2.0 */
/* The environment; see env.h. */
#include "base/env.h"

#include <stdlib.h>
#include <string.h>

const struct env_row env_table[N_ENV] = {
	[ENV_PROFTAPD] = {"PROFTAPD", 0, "path of the proftapd that the library starts"},
	[ENV_PROFTAP_DISABLE] = {"PROFTAP_DISABLE", 1, "1: every call of the library is a no-op"},
	[ENV_PROFTAP_FOLLOW_FORK] = {"PROFTAP_FOLLOW_FORK", 0,
		"1: forked children are recorded too, as with .follow_fork"},
	[ENV_PROFTAP_LOG] = {"PROFTAP_LOG", 1, "error, warn, info or debug"},
	[ENV_PROFTAP_LOG_DIR] = {"PROFTAP_LOG_DIR", 0, "the client's default log directory"},
};

const char *env_get(enum env_variable v)
{
	const struct env_row *row = &env_table[v];
	const char *value = row->is_safe_in_setuid ? getenv(row->name) : secure_getenv(row->name);

	return value && value[0] ? value : NULL;
}

int env_is_on(enum env_variable v)
{
	const char *value = env_get(v);

	return value && strcmp(value, "0") != 0;
}
