/* SPDX-License-Identifier: Apache-2.0 */
/* Variables for injection; see injection.h. */
#include "client/program/injection.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/env.h"

/* The name contains the word size. program.c refuses a program of another word size. */
#if __SIZEOF_POINTER__ == 8
#define PATH_OF(tool) tool "_INJECTION64_PATH"
#else
#define PATH_OF(tool) tool "_INJECTION32_PATH"
#endif

struct injection {
	const char *name;
	bool is_nvtx;
	const char *consequence; /* is printed when the user's value is kept */
};

static const struct injection injections[] = {
	{PATH_OF("NVTX"), true,
		"the program's NVTX annotations go there, and are not recorded; unset it, and they are"},
	{PATH_OF("CUDA"), false,
		"libproftap is preloaded all the same; where something on the way to the program takes "
		"LD_PRELOAD away it has no server"},
};

const char *const injection_nvtx_modes[INJECTION_NVTX_MODES] = {"off", "on", "xla"};

int injection_check_nvtx(const char *name, const char *value, struct diag *d)
{
	for (size_t i = 0; i < INJECTION_NVTX_MODES; i++)
		if (strcmp(value, injection_nvtx_modes[i]) == 0)
			return 0;
	return diag_set(d, -EINVAL, "%s: must be off, on or xla, not \"%.40s\"", name, value);
}

int injection_get_nvtx(const char **mode, struct diag *d)
{
	const char *asked = env_get(ENV_PROFTAP_NVTX);

	*mode = asked ? asked : "on";
	return injection_check_nvtx("PROFTAP_NVTX", *mode, d);
}

static bool is_wanted(const struct injection *i, const char *nvtx)
{
	return !i->is_nvtx || strcmp(nvtx, "off") != 0;
}

void injection_say_kept(const char *library, const char *nvtx)
{
	for (size_t i = 0; i < sizeof injections / sizeof injections[0]; i++) {
		const char *value = getenv(injections[i].name);

		if (value && is_wanted(&injections[i], nvtx) && strcmp(value, library) != 0)
			fprintf(stderr, "%s=%s: left as it is: %s\n", injections[i].name, value,
				injections[i].consequence);
	}
}

int injection_set(const char *library, const char *nvtx)
{
	for (size_t i = 0; i < sizeof injections / sizeof injections[0]; i++)
		if (is_wanted(&injections[i], nvtx) && setenv(injections[i].name, library, 0))
			return -errno;
	return 0;
}
