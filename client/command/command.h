/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of proftap's subcommands, which dispatch, help and suggestions use. A new command needs
 * a file and a row in command.c.
 */
#ifndef CLIENT_COMMAND_H
#define CLIENT_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/arguments.h"

struct diag;

/*
 * The possible values of an option that has few values, for completion. The table
 * ends with a row of NULL.
 */
struct command_words {
	const char *option;
	const char *const *words;
	size_t n_words;
	const char *(*get)(size_t i); /* or a function that returns word i, NULL behind the last */
	const char
		*end; /* is appended to a word, such as the ':' of METRIC:PERCENT; NULL: nothing */
};

struct command {
	const char *name;
	const char *usage; /* the arguments, as --help shows them behind the name */
	const char *summary; /* one line */
	struct arguments arguments;
	const struct command_words *values; /* for completion; may be NULL */
	/* For completion: ":files", ":commands" (see command_complete()), ":targets" or NULL. */
	const char *operands;
	void (*print_more_help)(FILE *out); /* may be NULL */
	/* Returns an enum exit_code. argv[0] is the command's name. */
	int (*run)(const struct command *self, int argc, char **argv);
};

/* Each is defined in its own file, cmd_NAME.c. */
extern const struct command command_capture;
extern const struct command command_convert;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_flame;
extern const struct command command_list;
extern const struct command command_monitor;
extern const struct command command_ps;
extern const struct command command_report;
extern const struct command command_run;
extern const struct command command_snapshot;
extern const struct command command_start;
extern const struct command command_stop;
extern const struct command command_view;

/* Runs proftap. Returns an enum exit_code. */
int command_main(int argc, char **argv);

enum {
	COMMAND_HANDLED = 1, /* --help or --version: printed; the command is done */
};

/*
 * Parses a command's arguments as arguments_parse() does, prints help or the version if it is asked
 * for, and then returns COMMAND_HANDLED.
 */
int command_parse(const struct command *command, int argc, char **argv, void *settings, int *n_left,
	struct diag *d);
/*
 * Prints the completions of a command line for shells, as `proftap __complete WORD…` does; the
 * shell's part is client/proftap.bash. |words| are the words behind "proftap" up to the cursor;
 * the last one is incomplete and may be "". An '=' is a word, because bash splits lines so. The
 * output is the possible last words, one per line, or ":dirs", ":files" or ":commands" to let the
 * shell complete them.
 */
void command_complete(const struct command *const *commands, size_t n_commands, int n_words,
	char **words, FILE *out);

/* Prints |d| and a hint to use --help. Returns EXIT_USAGE. |command| may be NULL. */
int command_fail_usage(const struct command *command, const struct diag *d);

#endif
