/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of command lines; see arguments.h. */
#include "client/command/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/nearest.h"
#include "base/options.h"
#include "client/command/command.h"

struct parser {
	const struct command *command;
	int argc;
	char **argv;
	int next; /* index of the argument to read next */
	void *settings;
};

int arguments_parse_int(const char *what, const char *text, long long min, long long max,
	long long *out, struct diag *d)
{
	const char *kind = min > 0 ? "a positive whole number" : "a whole number";
	char *end;
	bool is_number = *text == '-' || (*text >= '0' && *text <= '9');

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (is_number && end != text && !*end && errno == 0 && *out >= min && *out <= max)
		return 0;
	if (max == INT64_MAX)
		return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s, at least %lld",
			what, text, kind, min);
	return diag_set(d, -EINVAL, "%s: bad value \"%.64s\": must be %s, %lld to %lld", what, text,
		kind, min, max);
}

/* Whether the first |n| letters of |typed| are |name|; '-' and '_' are the same. */
static bool is_name(const char *typed, size_t n, const char *name)
{
	if (strlen(name) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((typed[i] == '-' ? '_' : typed[i]) != name[i])
			return false;
	return true;
}

static const struct command_option *find_long(const struct command *c, const char *typed, size_t n)
{
	for (size_t i = 0; i < c->n_options; i++)
		if (is_name(typed, n, c->options[i].name))
			return &c->options[i];
	return NULL;
}

static const struct command_option *find_short(const struct command *c, char letter)
{
	for (size_t i = 0; i < c->n_options; i++)
		if (letter && c->options[i].letter == letter)
			return &c->options[i];
	return NULL;
}

const struct command_option *arguments_find_option(const struct command *command, const char *word)
{
	if (word[0] != '-' || word[1] == '\0')
		return NULL;
	if (word[1] == '-')
		return find_long(command, word + 2, strlen(word + 2));
	return word[2] ? NULL : find_short(command, word[1]);
}

static const struct option *find_profile_option(
	const struct command *c, const char *typed, size_t n)
{
	if (!c->set_profile_option)
		return NULL;
	for (size_t i = 0; i < n_options; i++)
		if (is_name(typed, n, options_table[i].key))
			return &options_table[i];
	return NULL;
}

static void keep_nearest(
	const char *typed, const char *name, const char **best, unsigned int *best_distance)
{
	unsigned int distance = nearest_distance(typed, name);

	if (distance < *best_distance) {
		*best = name;
		*best_distance = distance;
	}
}

static int fail_unknown(const struct command *c, const char *typed, size_t n, struct diag *d)
{
	char name[64];
	const char *best = "help";
	unsigned int best_distance;

	snprintf(name, sizeof name, "%.*s", (int)n, typed);
	best_distance = nearest_distance(name, best);
	keep_nearest(name, "version", &best, &best_distance);
	for (size_t i = 0; i < c->n_options; i++)
		if (c->options[i].kind != COMMAND_OPTION_ANNOUNCED)
			keep_nearest(name, c->options[i].name, &best, &best_distance);
	for (size_t i = 0; c->set_profile_option && i < n_options; i++)
		if (options_table[i].uses & c->profile_use)
			keep_nearest(name, options_table[i].key, &best, &best_distance);
	return diag_set(d, -EINVAL, "%s: unknown option --%.*s; the nearest is --%s", c->name,
		(int)n, typed, best);
}

static int set_option(
	struct parser *w, const struct command_option *o, const char *value, struct diag *d)
{
	char *member = (char *)w->settings + o->offset;
	long long number;
	char what[64];
	int r;

	switch (o->kind) {
	case COMMAND_OPTION_FLAG:
		*(bool *)member = true;
		return 0;
	case COMMAND_OPTION_TEXT:
		*(const char **)member = value;
		return 0;
	case COMMAND_OPTION_CALL:
		return o->set(member, value, d);
	case COMMAND_OPTION_ANNOUNCED:
		return diag_set(d, -EINVAL, "--%s: %s", o->name, o->help);
	case COMMAND_OPTION_MAYBE_INT:
		if (!value) {
			*(int64_t *)member = o->max;
			return 0;
		}
		/* fall through */
	case COMMAND_OPTION_INT:
		snprintf(what, sizeof what, "--%s", o->name);
		r = arguments_parse_int(what, value, o->min, o->max, &number, d);
		if (r == 0)
			*(int64_t *)member = number;
		return r;
	}
	return -EINVAL;
}

static int apply_option(
	struct parser *w, const struct command_option *o, const char *value, struct diag *d)
{
	int r = set_option(w, o, value, d);

	if (r == 0 && w->command->note)
		r = w->command->note(w->settings, o, value, d);
	return r;
}

/*
 * Returns |attached|, the value behind '=', or else the next argument; NULL with |d| when there is
 * none.
 */
static const char *take_value(
	struct parser *w, const char *name, const char *attached, struct diag *d)
{
	if (attached)
		return attached;
	if (w->next < w->argc)
		return w->argv[w->next++];
	diag_set(d, -EINVAL, "%s: needs a value", name);
	return NULL;
}

/* Sets an option of base/options.h. A switch without a value means true. */
static int apply_profile_option(
	struct parser *w, const struct option *o, const char *attached, struct diag *d)
{
	const char *value = attached;
	char *key_value;
	int r;

	if (!value && o->type == OPTION_BOOL)
		value = "true";
	if (!value)
		value = take_value(w, o->key, NULL, d);
	if (!value)
		return -EINVAL;
	if (asprintf(&key_value, "%s=%s", o->key, value) < 0)
		return diag_set(d, -ENOMEM, "%s: out of memory", o->key);
	r = w->command->set_profile_option(w->settings, key_value, d);
	free(key_value);
	return r;
}

static int parse_long(struct parser *w, const char *argument, struct diag *d)
{
	const char *name = argument + 2;
	const char *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : NULL;
	const struct command_option *o = find_long(w->command, name, n);
	const struct option *p = find_profile_option(w->command, name, n);

	if (!o && p)
		return apply_profile_option(w, p, value, d);
	if (!o)
		return fail_unknown(w->command, name, n, d);
	if (o->kind == COMMAND_OPTION_FLAG)
		return value ? diag_set(d, -EINVAL, "--%s: takes no value", o->name)
			     : apply_option(w, o, NULL, d);
	if (o->kind == COMMAND_OPTION_ANNOUNCED || o->kind == COMMAND_OPTION_MAYBE_INT)
		return apply_option(w, o, value, d);
	value = take_value(w, argument, value, d);
	return value ? apply_option(w, o, value, d) : -EINVAL;
}

/* Parses -x, -xVALUE or -x VALUE; flags may be bundled. */
static int parse_short(struct parser *w, const char *argument, struct diag *d)
{
	for (const char *p = argument + 1; *p; p++) {
		const struct command_option *o = find_short(w->command, *p);
		const char *value;
		int r;

		if (!o)
			return diag_set(d, -EINVAL, "-%c: unknown option of proftap %s", *p,
				w->command->name);
		if (o->kind != COMMAND_OPTION_FLAG) {
			value = take_value(w, argument, p[1] ? p + 1 : NULL, d);
			return value ? apply_option(w, o, value, d) : -EINVAL;
		}
		r = apply_option(w, o, NULL, d);
		if (r < 0)
			return r;
	}
	return 0;
}

/* "-5" is an operand unless there is an option -5. */
static bool is_option(const struct command *c, const char *argument)
{
	if (argument[0] != '-' || argument[1] == '\0')
		return false;
	return !isdigit((unsigned char)argument[1]) || find_short(c, argument[1]);
}

static bool is_help(const char *argument)
{
	return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static int parse_option(struct parser *w, const char *argument, struct diag *d)
{
	if (is_help(argument)) {
		command_print_help(w->command, stdout);
		return ARGUMENTS_HANDLED;
	}
	if (strcmp(argument, "--version") == 0) {
		command_print_version(stdout);
		return ARGUMENTS_HANDLED;
	}
	if (argument[1] == '-')
		return parse_long(w, argument, d);
	return parse_short(w, argument, d);
}

int arguments_parse(const struct command *command, int argc, char **argv, void *settings,
	int *n_left, struct diag *d)
{
	struct parser w = {command, argc, argv, 1, settings};
	bool is_end = false;

	*n_left = 0;
	while (w.next < argc) {
		char *argument = argv[w.next++];
		int r = 0;

		if (is_end || !is_option(command, argument)) {
			argv[(*n_left)++] = argument;
			is_end = is_end || command->has_program;
		} else if (strcmp(argument, "--") == 0)
			is_end = true;
		else {
			r = parse_option(&w, argument, d);
		}
		if (r != 0)
			return r;
	}
	return 0;
}
