/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of proftap's subcommands, which dispatch, help and suggestions use. A new command is a
 * file and a row in command.c.
 */
#ifndef CLIENT_COMMAND_H
#define CLIENT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/options.h"

struct diag;

enum command_option_kind {
	COMMAND_OPTION_FLAG, /* bool */
	COMMAND_OPTION_TEXT, /* const char *, borrowed from argv */
	COMMAND_OPTION_INT, /* int64_t */
	COMMAND_OPTION_MAYBE_INT, /* int64_t; |max| if "=VALUE" is missing */
	COMMAND_OPTION_CALL, /* |set| */
	COMMAND_OPTION_ANNOUNCED, /* refused with |help| as the reason, and not shown by --help */
};

/* One row of a command's options. */
struct command_option {
	const char *name; /* with '_'; the user may type '-' instead */
	char letter; /* 0: none */
	enum command_option_kind kind;
	/* The offset in the settings of the member, or of what |set| is called with. */
	size_t offset;
	int64_t min; /* |min| and |max|: for COMMAND_OPTION_INT and COMMAND_OPTION_MAYBE_INT */
	int64_t max;
	int (*set)(void *settings, const char *value, struct diag *d); /* 0 or -EINVAL */
	const char *argument; /* as shown by --help; NULL for a flag */
	const char *help;
};

/*
 * The possible values of an option that has few, for completion. The table ends with a row of NULL.
 */
struct command_words {
	const char *option;
	const char *const *words;
	size_t n_words;
	const char *(*get)(size_t i); /* or a function that returns them; NULL behind the last */
	const char
		*end; /* is appended to a word, such as the ':' of METRIC:PERCENT; NULL: nothing */
};

struct command {
	const char *name;
	const char *usage; /* the arguments, as --help shows them behind the name */
	const char *summary; /* one line */
	const struct command_option *options;
	size_t n_options;
	const struct command_words *values; /* for completion; may be NULL */
	/* For completion: ":files", ":commands" (see complete.h), ":targets" or NULL. */
	const char *operands;
	/*
	 * If not NULL, the keys of base/options.h are options too, and this function sets one from
	 * "key=value". 0 or -EINVAL.
	 */
	int (*set_profile_option)(void *settings, const char *key_value, struct diag *d);
	enum option_use profile_use; /* completion and help show the keys of this use */
	/*
	 * If not NULL, it is called for each option that was set, with its value in argv (NULL:
	 * none). 0 or a negative errno with |d|.
	 */
	int (*note)(
		void *settings, const struct command_option *o, const char *value, struct diag *d);
	/* The first operand ends the options: it begins a program's command line. */
	bool has_program;
	void (*print_more_help)(FILE *out); /* may be NULL */
	/* Returns an enum exit_code. argv[0] is the command's name. */
	int (*run)(const struct command *self, int argc, char **argv);
};

/* Each is defined in its own file, cmd_NAME.c. */
extern const struct command command_capture;
extern const struct command command_convert;
extern const struct command command_diff;
extern const struct command command_doctor;
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

void command_print_help(const struct command *command, FILE *out);
void command_print_version(FILE *out);
/* Prints |d| and a hint at --help. Returns EXIT_USAGE. |command| may be NULL. */
int command_fail_usage(const struct command *command, const struct diag *d);

#endif
