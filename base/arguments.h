/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command lines of proftap and proftapd by tables of options. */
#ifndef BASE_ARGUMENTS_H
#define BASE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

struct diag;

enum argument_kind {
	ARGUMENT_FLAG, /* bool */
	ARGUMENT_TEXT, /* const char *, borrowed from argv */
	ARGUMENT_INT, /* int64_t */
	ARGUMENT_MAYBE_INT, /* int64_t; |max| if "=VALUE" is missing */
	ARGUMENT_CALL, /* calls |set| */
	ARGUMENT_ANNOUNCED, /* refused with |help| as the reason, and not shown by --help */
};

/* One option of a command line. */
struct argument_option {
	const char *name; /* the user may type '-' instead of '_', and the reverse */
	char letter; /* 0: none */
	enum argument_kind kind;
	/* The offset of the member in the settings, or of the object that is passed to |set|. */
	size_t offset;
	int64_t min; /* |min| and |max|: for ARGUMENT_INT and ARGUMENT_MAYBE_INT */
	int64_t max;
	/* 0 or a negative errno with |d| */
	int (*set)(void *settings, const char *value, struct diag *d);
	const char *argument; /* as shown by --help; NULL for a flag */
	const char *help;
};

/* The arguments that a command line may have. */
struct arguments {
	const struct argument_option *options;
	size_t n_options;
	/*
	 * If not NULL, the keys of base/options.h are options too, and this function sets one from
	 * "key=value". 0 or a negative errno with |d|.
	 */
	int (*set_profile_option)(void *settings, const char *key_value, struct diag *d);
	enum option_use profile_use; /* completion and help show the keys of this use */
	/*
	 * If not NULL, every other --KEY is an option with a value, which this function sets. A key
	 * may have '-' for '_'. 0 or a negative errno with |d|.
	 */
	int (*set_key)(void *settings, const char *key, const char *value, struct diag *d);
	/*
	 * If not NULL, it is called for each option that was set, with its value in argv (NULL:
	 * none). 0 or a negative errno with |d|.
	 */
	int (*note)(
		void *settings, const struct argument_option *o, const char *value, struct diag *d);
	/* The first operand ends the options: it begins a program's command line. */
	bool has_program;
	bool has_only_options; /* an operand is refused, and so is "--" */
};

/* Outcomes of arguments_parse(), besides 0 and negative ones. */
enum {
	ARGUMENTS_HELP = 1, /* the user asks for help */
	ARGUMENTS_VERSION = 2, /* the user asks for the version */
};

/*
 * Sets |settings| from the options in argv[1..argc); argv[0] is not read.
 * The *n_left arguments that are no options are moved to the front of |argv|, in order. Returns 0,
 * an outcome above, or a negative errno with |d|.
 */
int arguments_parse(const struct arguments *arguments, int argc, char **argv, void *settings,
	int *n_left, struct diag *d);

/*
 * Finds the option for a |word| such as "--log-dir" or "-o"; NULL: there is none of that name.
 */
const struct argument_option *arguments_find_option(
	const struct arguments *arguments, const char *word);

/* Returns true if the first |n| letters of |typed| are |name|; '-' and '_' are the same. */
bool argument_is_name(const char *typed, size_t n, const char *name);

/*
 * Parses a whole decimal number in [min, max]. 0, or -EINVAL with |d|, which names |what| and the
 * range.
 */
int argument_parse_int(const char *what, const char *text, long long min, long long max,
	long long *out, struct diag *d);

#endif
