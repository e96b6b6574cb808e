/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's settings; see recorder_settings.h. */
#define PTAP_IMPL_BUILDING
#include "lib/control/recorder_settings.h"

#include <errno.h>
#include <proftap/proftap.h>
#include <string.h>

#include "base/diag.h"
#include "base/env.h"

#define VARIABLE env_table[ENV_PROFTAP_RECORDER].name

static int append_recorder_options(
	struct recorder_text *text, const char *options, const char *whose, struct diag *d)
{
	size_t n = strlen(text->lines);
	size_t n_options = options ? strlen(options) : 0;

	if (n + n_options + 2 > sizeof text->lines)
		return diag_set(d, -EINVAL,
			"%s: the recorder's options are longer than %zu bytes in all", whose,
			sizeof text->lines - 1);
	for (size_t i = 0; i < n_options; i++)
		text->lines[n++] = options[i] == ',' ? '\n' : options[i];
	if (n_options)
		text->lines[n++] = '\n';
	text->lines[n] = '\0';
	return 0;
}

/* Reads PROFTAP_RECORDER: "1", "0", or options. */
static int read_recorder_variable(
	struct ptap_server_options *o, struct recorder_text *text, struct diag *d)
{
	const char *value = env_get(ENV_PROFTAP_RECORDER);

	if (!value || strcmp(value, "0") == 0)
		return 0;
	o->recorder = 1;
	if (strcmp(value, "1") == 0)
		return 0;
	if (!strchr(value, '='))
		return diag_set(d, -EINVAL,
			"%s: bad value \"%.64s\": must be 1, 0 or KEY=VALUE,...", VARIABLE, value);
	return append_recorder_options(text, value, VARIABLE, d);
}

int recorder_settings_find(
	struct ptap_server_options *o, struct recorder_text *text, struct diag *d)
{
	int r;

	text->lines[0] = '\0';
	r = append_recorder_options(text, o->recorder_options, ".recorder_options", d);
	if (!r)
		r = read_recorder_variable(o, text, d);
	o->recorder_options = text->lines;
	return r;
}
