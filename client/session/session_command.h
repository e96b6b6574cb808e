/* SPDX-License-Identifier: Apache-2.0 */
/* What proftap start, snapshot and stop have in common: one target, a session or recorder there, the way to it. */
#ifndef CLIENT_SESSION_COMMAND_H
#define CLIENT_SESSION_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "client/capture/capture_settings.h"
#include "client/capture/part_files.h"
#include "client/command/command.h"

struct diag;

struct session_command {
	struct capture_settings
		settings; /* first: capture_settings_set_option() gets this struct's address */
	const char *session; /* NULL: not given */
	bool discards;
	bool is_recorder; /* of proftap start */
	int64_t last_ms; /* of proftap snapshot; 0: not given */
	bool keeps;
};

/* Rows of command_option, for a struct session_command. */
#define SESSION_COMMAND_AT(member) offsetof(struct session_command, settings.member)

#define SESSION_COMMAND_OPTIONS                                                                  \
	{"host", 0, COMMAND_OPTION_TEXT, SESSION_COMMAND_AT(host), 0, 0, NULL, "HOST",           \
		"goes with a bare PORT; default localhost"},                                     \
		{"target", 0, COMMAND_OPTION_TEXT, SESSION_COMMAND_AT(target), 0, 0, NULL,       \
			"PID|NAME", "which program of a host daemon"},                           \
		{"newest", 0, COMMAND_OPTION_FLAG, SESSION_COMMAND_AT(has_newest), 0, 0, NULL,   \
			NULL,                                                                    \
			"where several programs have the NAME: the one that was started last"},  \
		{"ssh", 0, COMMAND_OPTION_TEXT, SESSION_COMMAND_AT(ssh), 0, 0, NULL,             \
			"[USER@]DEST",                                                           \
			"through a tunnel to there: a PORT is one of that machine"},             \
		{"timeout", 0, COMMAND_OPTION_INT, SESSION_COMMAND_AT(capture.timeout_ms), 1,    \
			CAPTURE_MAX_MS, NULL, "MS", "for the answer; default 60000"},            \
	{                                                                                        \
		"json", 0, COMMAND_OPTION_FLAG, SESSION_COMMAND_AT(capture.is_json), 0, 0, NULL, \
			NULL, "one JSON object on standard output instead of text"               \
	}

#define SESSION_COMMAND_FILE_OPTIONS                                                             \
	{"log_dir", 0, COMMAND_OPTION_TEXT, SESSION_COMMAND_AT(capture.log_dir), 0, 0, NULL,     \
		"DIR", "where the file goes; default $PROFTAP_LOG_DIR, else a fresh directory"}, \
		{"run", 0, COMMAND_OPTION_TEXT, SESSION_COMMAND_AT(capture.run), 0, 0, NULL,     \
			"NAME", "add to this run; default: a new one named after the time"},     \
		{"format", 0, COMMAND_OPTION_CALL, 0, 0, 0, capture_settings_set_format, "LIST", \
			"other formats beside the XSpace, as in perfetto,pprof"},                \
		{"split", 0, COMMAND_OPTION_MAYBE_INT, SESSION_COMMAND_AT(capture.split_bytes),  \
			PART_FILES_MIN_BYTES, PART_FILES_MAX_BYTES, NULL, "[=BYTES]",            \
			"split larger files by time; default: those XProf cannot read"},         \
	{                                                                                        \
		"host_name", 0, COMMAND_OPTION_TEXT, SESSION_COMMAND_AT(host_name), 0, 0, NULL,  \
			"NAME", "of the file, before .xplane.pb; default HOSTNAME_PORT"          \
	}

/* Of those that write files. */
extern const struct command_words session_command_values[];

/*
 * Parses the command line, asks |check| (NULL ok; 0, or -EINVAL with |d|: wrong usage) and, when all is right, calls |act| with the way to the target open; says what failed. An enum
 * exit_code, as |act| returns one.
 */
int session_command_run(const struct command *self, int argc, char **argv,
	int (*check)(const struct session_command *c, struct diag *d),
	int (*act)(struct session_command *c, struct diag *d));

/* The second half of that, for a command that parses its line by itself. */
int session_command_act(
	struct session_command *c, int (*act)(struct session_command *c, struct diag *d));

/* Two of what |act| can be: a snapshot into the log directory; the same and the session's end, or only that. */
int session_command_harvest(struct session_command *c, struct diag *d);
int session_command_end(struct session_command *c, struct diag *d);

#endif
