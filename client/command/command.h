/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subcommands of proftap: one row each, from which the dispatch, the help and the suggestions
 * are made. A new command is a file and a row in command.c.
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
	COMMAND_OPTION_MAYBE_INT, /* int64_t; without "=VALUE" it is |max| */
	COMMAND_OPTION_CALL, /* |set| */
	COMMAND_OPTION_ANNOUNCED, /* refused with |help| as the reason, and not in the help */
};

/* One row of a command's options. */
struct command_option {
	const char *name; /* with '_'; '-' is read as the same */
	char letter; /* 0: none */
	enum command_option_kind kind;
	size_t offset; /* of the member in the command's settings; of what |set| gets */
	int64_t min; /* COMMAND_OPTION_INT, COMMAND_OPTION_MAYBE_INT */
	int64_t max;
	int (*set)(void *settings, const char *value, struct diag *d); /* 0 or -EINVAL */
	const char *argument; /* as shown by --help; NULL for a flag */
	const char *help;
};

/* The words that the value of an option can be, where they are few; ends with a row of NULL. */
struct command_words {
	const char *option;
	const char *const *words;
	size_t n_words;
	const char *(*get)(size_t i); /* or, where they are another table's: NULL behind the last */
	const char *
		end; /* what a word goes on with, as the ':' of METRIC:PERCENT; NULL: it is whole */
};

struct command {
	const char *name;
	const char *usage; /* what follows the name */
	const char *summary; /* one line */
	const struct command_option *options;
	size_t n_options;
	const struct command_words *values; /* for completion; NULL: none */
	const char *operands; /* likewise: ":files" (see complete.h), ":targets" or NULL */
	/*
	 * NULL, or: the keys of base/options.h are options too; sets one from "key=value".
	 * 0 or -EINVAL.
	 */
	int (*set_profile_option)(void *settings, const char *key_value, struct diag *d);
	enum option_use profile_use; /* the keys that are offered are those of this use */
	/*
	 * NULL, or told of each option that is set, and of its value (NULL: none), which is argv's. 0 or a
	 * negative errno with |d|.
	 */
	int (*note)(
		void *settings, const struct command_option *o, const char *value, struct diag *d);
	bool has_program; /* the first argument that is no option ends them: the rest is a command */
	void (*print_more_help)(FILE *out); /* NULL: nothing more */
	/* Returns an enum exit_code. argv[0] is the command's name. */
	int (*run)(const struct command *self, int argc, char **argv);
};

/* The rows' subjects, one file each. */
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

/* All of proftap but main(). Returns an enum exit_code. */
int command_main(int argc, char **argv);

void command_print_help(const struct command *command, FILE *out);
void command_print_version(FILE *out);
/* Prints the sentence and where to read on; returns EXIT_USAGE. |command| may be NULL. */
int command_fail_usage(const struct command *command, const struct diag *d);

#endif
