/* SPDX-License-Identifier: Apache-2.0 */
/* The environment; see env.h. */
#include "base/env.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const struct env_row env_table[N_ENV] = {
	[ENV_PROFTAPD] = {"PROFTAPD", 0, "path of the proftapd that the library starts"},
	[ENV_PROFTAP_COLLECTOR] = {"PROFTAP_COLLECTOR", 0,
		"/PATH[:/PATH...]: captures also open these collectors in the program"},
	[ENV_PROFTAP_CUPTI] = {"PROFTAP_CUPTI", 0,
		"path of the libcupti.so that records CUDA; default: the one that the search "
		"finds"},
	[ENV_PROFTAP_DISABLE] = {"PROFTAP_DISABLE", 1, "1: every call of the library is a no-op"},
	[ENV_PROFTAP_FOLLOW_FORK] = {"PROFTAP_FOLLOW_FORK", 0,
		"1: forked children are recorded too, as with .follow_fork"},
	[ENV_PROFTAP_FOLLOW] = {"PROFTAP_FOLLOW", 0,
		"with PROFTAP_SERVER, 1: children get servers, too, each at a free port; recorded: "
		"they also wait a moment to be recorded"},
	[ENV_PROFTAP_LIB] = {"PROFTAP_LIB", 0,
		"path of the libproftap.so.1 that proftap run loads"},
	[ENV_PROFTAP_LOG] = {"PROFTAP_LOG", 1, "error, warn, info or debug"},
	[ENV_PROFTAP_LOG_DIR] = {"PROFTAP_LOG_DIR", 0,
		"the client's default log directory, and .log_dir of a server that PROFTAP_SERVER "
		"starts"},
	[ENV_PROFTAP_NVTX] = {"PROFTAP_NVTX", 0,
		"off, on (default) or xla: record NVTX annotations, if NVTX_INJECTION64_PATH names "
		"libproftap"},
	[ENV_PROFTAP_PARENT] = {"PROFTAP_PARENT", 0,
		"unix:PATH: servers started here announce themselves to this server as its "
		"subprocesses"},
	[ENV_PROFTAP_RECORDER] = {"PROFTAP_RECORDER", 0,
		"1, or KEY=VALUE,...: servers have a flight recorder, as with .recorder; 0: the "
		"program decides"},
	[ENV_PROFTAP_SERVER] = {"PROFTAP_SERVER", 0,
		"[ADDRESS:]PORT: a program that loads libproftap starts a server there"},
	[ENV_PROFTAP_SERVER_PID] = {"PROFTAP_SERVER_PID", 0,
		"pid of the process in which PROFTAP_SERVER starts a server; default: every "
		"process"},
	[ENV_PROFTAP_WAIT] = {"PROFTAP_WAIT", 0,
		"time (CLOCK_MONOTONIC, ms) until which a preloaded libproftap waits to be "
		"recorded; at most 5 s"},
};

const char *env_get(enum env_variable v)
{
	const struct env_row *row = &env_table[v];
	const char *value = row->is_safe_in_setuid ? getenv(row->name) : secure_getenv(row->name);

	return value && value[0] ? value : NULL;
}

bool env_is_on(enum env_variable v)
{
	const char *value = env_get(v);

	return value && strcmp(value, "0") != 0;
}
