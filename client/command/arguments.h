/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a command line by a command's table of options. */
#ifndef CLIENT_ARGUMENTS_H
#define CLIENT_ARGUMENTS_H

struct command;
struct command_option;
struct diag;

enum {
	ARGUMENTS_HANDLED = 1, /* --help or --version: printed; the command is done */
};

/*
 * Sets |settings| from the options in argv[1..argc). The *n_left arguments that are no options are
 * moved to the front of |argv|, in order. 0, ARGUMENTS_HANDLED, or -EINVAL with |d|.
 */
int arguments_parse(const struct command *command, int argc, char **argv, void *settings,
	int *n_left, struct diag *d);

/*
 * Finds the option for a |word| such as "--log-dir" or "-o"; NULL: the command has none of that
 * name.
 */
const struct command_option *arguments_find_option(const struct command *command, const char *word);

/*
 * Parses a whole decimal number in [min, max]. 0, or -EINVAL with |d|, which names |what| and the
 * range.
 */
int arguments_parse_int(const char *what, const char *text, long long min, long long max,
	long long *out, struct diag *d);

#endif
