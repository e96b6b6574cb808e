/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a command line along a command's table of options. */
#ifndef CLIENT_ARGUMENTS_H
#define CLIENT_ARGUMENTS_H

struct command;
struct command_option;
struct diag;

enum {
	ARGUMENTS_HANDLED = 1, /* --help or --version: printed; the command is done */
};

/*
 * Sets |settings| from the options in argv[1..argc). What is left over, in order, is moved to the
 * front of |argv|; *n_left says how many. 0, ARGUMENTS_HANDLED, or -EINVAL with |d| filled.
 */
int arguments_parse(const struct command *command, int argc, char **argv, void *settings,
	int *n_left, struct diag *d);

/* The option that |word| names alone, as in "--log-dir" or "-o"; NULL: none of the command's own. */
const struct command_option *arguments_find_option(const struct command *command, const char *word);

/* A whole decimal number in [min, max]. 0 or -EINVAL with |d| naming |what| and the range. */
int arguments_parse_int(const char *what, const char *text, long long min, long long max,
	long long *out, struct diag *d);

#endif
