/* SPDX-License-Identifier: Apache-2.0 */
/* proftap snapshot: what a continuous session holds, now; it goes on. */
#include <stddef.h>

#include "client/command.h"
#include "client/session_command.h"

#define AT(member) offsetof(struct session_command, member)

static const struct command_option options[] = {
	{"session", 0, COMMAND_OPTION_TEXT, AT(session), 0, 0, NULL, "ID",
		"of this session; default: whichever runs"},
	SESSION_COMMAND_FILE_OPTIONS,
	SESSION_COMMAND_OPTIONS,
};

static int run(const struct command *self, int argc, char **argv)
{
	return session_command_run(self, argc, argv, session_command_harvest);
}

const struct command command_snapshot = {
	.name = "snapshot",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME",
	.summary = "write what a continuous session has recorded; it goes on",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.operands = ":targets",
	.run = run,
};
