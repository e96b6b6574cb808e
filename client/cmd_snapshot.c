/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap snapshot: writes the data of the flight recorder or a continuous session, which goes on.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "client/answer/profile_call.h"
#include "client/command/command.h"
#include "client/session_command.h"

#define AT(member) offsetof(struct session_command, member)

static const struct argument_option options[] = {
	{"last", 0, ARGUMENT_INT, AT(last_ms), 1, CAPTURE_MAX_MS, NULL, "MS",
		"only the last MS milliseconds of the flight recorder; default: all"},
	{"keep", 0, ARGUMENT_FLAG, AT(keeps), 0, 0, NULL, NULL,
		"do not drop the content of a program that died; it stays for up to five minutes"},
	{"session", 0, ARGUMENT_TEXT, AT(session), 0, 0, NULL, "ID",
		"session, or \"recorder\"; default: the one that runs"},
	SESSION_COMMAND_FILE_OPTIONS,
	SESSION_COMMAND_OPTIONS,
};

static int check_snapshot(const struct session_command *c, struct diag *d)
{
	if (!c->last_ms || !c->session || strcmp(c->session, RECORDER_ID) == 0)
		return 0;
	return diag_set(d, -EINVAL,
		"--last reads the flight recorder, so it excludes --session, except "
		"--session " RECORDER_ID);
}

static int run_snapshot(const struct command *self, int argc, char **argv)
{
	return session_command_run(self, argc, argv, check_snapshot, session_command_fetch);
}

const struct command command_snapshot = {
	.name = "snapshot",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME",
	.summary =
		"write the content of the flight recorder, or of a continuous session, which goes "
		"on",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = session_command_values,
	.operands = ":targets",
	.run = run_snapshot,
};
