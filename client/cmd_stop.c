/* SPDX-License-Identifier: Apache-2.0 */
/* proftap stop: ends a continuous session or the flight recorder, and writes its data. */
#include <stddef.h>

#include "client/command/command.h"
#include "client/session_command.h"

#define AT(member) offsetof(struct session_command, member)

static const struct argument_option options[] = {
	{"session", 0, ARGUMENT_TEXT, AT(session), 0, 0, NULL, "ID",
		"session, or \"recorder\"; default: the one that runs"},
	{"discard", 0, ARGUMENT_FLAG, AT(discards), 0, 0, NULL, NULL,
		"drop the content instead of writing it"},
	SESSION_COMMAND_FILE_OPTIONS,
	SESSION_COMMAND_OPTIONS,
};

static int run_stop(const struct command *self, int argc, char **argv)
{
	return session_command_run(self, argc, argv, NULL, session_command_end);
}

const struct command command_stop = {
	.name = "stop",
	.usage = "[options] PORT|HOST:PORT|unix:PATH|PID|NAME",
	.summary = "end a continuous session or the flight recorder, and write its content",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = session_command_values,
	.operands = ":targets",
	.run = run_stop,
};
