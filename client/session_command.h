/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of proftap start, snapshot and stop: one target with a session or flight
 * recorder, and the connection to it.
 */
#ifndef CLIENT_SESSION_COMMAND_H
#define CLIENT_SESSION_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "client/capture/capture_settings.h"
#include "client/capture/part_files.h"
#include "client/command/command.h"

struct diag;

struct session_command {
	/* The first member, because capture_settings_set_option() gets this struct's address. */
	struct capture_settings settings;
	const char *session; /* NULL: not given */
	bool discards; /* for proftap stop */
	bool is_recorder; /* for proftap start */
	int64_t last_ms; /* for proftap snapshot; 0: not given */
	bool keeps; /* for proftap snapshot */
};

/* The offset of a member of the settings, for rows of argument_option. */
#define SESSION_COMMAND_AT(member) offsetof(struct session_command, settings.member)

#define SESSION_COMMAND_OPTIONS                                                                  \
	{"host", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(host), 0, 0, NULL, "HOST",                 \
		"host of a bare PORT; default localhost"},                                       \
		{"target", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(target), 0, 0, NULL, "PID|NAME", \
			"program of a host daemon"},                                             \
		{"newest", 0, ARGUMENT_FLAG, SESSION_COMMAND_AT(has_newest), 0, 0, NULL, NULL,   \
			"if several programs have the NAME, take the one started last"},         \
		{"ssh", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(ssh), 0, 0, NULL, "[USER@]DEST",    \
			"connect by an ssh tunnel; a PORT is one of that machine"},              \
		{"timeout", 0, ARGUMENT_INT, SESSION_COMMAND_AT(capture.timeout_ms), 1,          \
			CAPTURE_MAX_MS, NULL, "MS", "limit for the answer; default 60000"},      \
	{                                                                                        \
		"json", 0, ARGUMENT_FLAG, SESSION_COMMAND_AT(capture.is_json), 0, 0, NULL, NULL, \
			"print one JSON object on standard output instead of text"               \
	}

#define SESSION_COMMAND_FILE_OPTIONS                                                              \
	{"log_dir", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(capture.log_dir), 0, 0, NULL, "DIR",     \
		"directory of the output; default $PROFTAP_LOG_DIR, else a new "                  \
		"temporary directory"},                                                           \
		{"run", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(capture.run), 0, 0, NULL, "NAME",    \
			"add to this run; default: a new one named after the time"},              \
		{"format", 0, ARGUMENT_CALL, 0, 0, 0, capture_settings_set_format, "LIST",        \
			"write these formats, too, as in perfetto,pprof"},                        \
		{"split", 0, ARGUMENT_MAYBE_INT, SESSION_COMMAND_AT(capture.split_bytes),         \
			PART_FILES_MIN_BYTES, PART_FILES_MAX_BYTES, NULL, "[=BYTES]",             \
			"split files larger than BYTES by time; default: those that "             \
			"XProf cannot read"},                                                     \
	{                                                                                         \
		"host_name", 0, ARGUMENT_TEXT, SESSION_COMMAND_AT(host_name), 0, 0, NULL, "NAME", \
			"name of the file, before .xplane.pb; default HOSTNAME_PORT"              \
	}

/* The values of SESSION_COMMAND_FILE_OPTIONS, for completion. */
extern const struct command_words session_command_values[];

/*
 * Parses the command line, checks it with |check| (NULL: no check; 0, or -EINVAL with |d|: wrong
 * usage), opens the tunnel if one is needed, and calls |act|. Prints failures. Returns an enum
 * exit_code, as |act| does.
 */
int session_command_run(const struct command *self, int argc, char **argv,
	int (*check)(const struct session_command *c, struct diag *d),
	int (*act)(struct session_command *c, struct diag *d));

/* The same without parsing and checking, for a command that parses its command line itself. */
int session_command_act(
	struct session_command *c, int (*act)(struct session_command *c, struct diag *d));

/* For |act|: takes a snapshot into the log directory. */
int session_command_fetch(struct session_command *c, struct diag *d);
/* For |act|: takes a snapshot and stops the session, or only stops it. */
int session_command_end(struct session_command *c, struct diag *d);

#endif
