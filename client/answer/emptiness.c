/* SPDX-License-Identifier: Apache-2.0 */
/* Empty recordings; see emptiness.h. */
#include "client/answer/emptiness.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/profile_options.h"
#include "client/process/terminal.h"
#include "trace/model/space.h"

/* The beginning of the warning in which a proftap server tells the reason. */
static const char nothing[] = "nothing was recorded: ";
#define N_NOTHING (sizeof nothing - 1)

static bool is_reason(const char *warning)
{
	return strncmp(warning, nothing, N_NOTHING) == 0;
}

/* Finds the server's reason for an empty recording, else its first warning, else NULL. */
static const char *find_reason(const struct names *warnings)
{
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		if (is_reason(warnings->texts[i]))
			return warnings->texts[i];
	return warnings->n_texts > 0 ? warnings->texts[0] : NULL;
}

static void print_others(const struct emptiness *e, const char *reason)
{
	const struct names *warnings = &e->space->warnings;

	for (uint32_t i = 0; i < e->space->errors.n_texts; i++)
		terminal_write_line("error", e->space->errors.texts[i], stderr);
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		if (warnings->texts[i] != reason &&
			names_find(e->said, warnings->texts[i]) == NAMES_NONE)
			terminal_write_line("warning", warnings->texts[i], stderr);
}

/* Gives a likely reason, when the server gave none. */
static void guess_reason(const struct emptiness *e, struct diag *d)
{
	if (e->options->host_tracer_level == 0)
		diag_set(d, -ENODATA,
			"%s: the recording worked and was empty: host_tracer_level is 0, which "
			"records no annotation; use 1 to 3",
			e->target);
	else if (e->options->duration_ms == 0)
		diag_set(d, -ENODATA,
			"%s: the recording worked and was empty: no annotation was reached since it "
			"began, or since the last snapshot",
			e->target);
	else
		diag_set(d, -ENODATA,
			"%s: the recording worked and was empty: no annotation was reached in "
			"%" PRIu64
			" ms at host_tracer_level %u; record longer or use a higher level",
			e->target, e->options->duration_ms, e->options->host_tracer_level);
}

void emptiness_explain(const struct emptiness *e, struct diag *d)
{
	const char *reason = e->space ? find_reason(&e->space->warnings) : NULL;

	if (reason)
		diag_set(d, -ENODATA, "%s: the recording worked and was empty: %.400s", e->target,
			is_reason(reason) ? reason + N_NOTHING : reason);
	else
		guess_reason(e, d);
	if (e->space && !e->is_brief)
		print_others(e, reason);
}
